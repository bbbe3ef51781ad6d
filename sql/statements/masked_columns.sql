-- In which quasi-identifiers of a release some cell is suppressed or generalized.
SELECT
{% for c in columns %}
    EXISTS (SELECT FROM {{ storage }} AS s WHERE s.kanon_pattern & {{ c.mask }} <> 0) AS {{ c.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
