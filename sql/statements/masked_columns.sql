-- In which quasi-identifiers of a release some cell is suppressed or generalized.
SELECT
{% for c in columns %}
    EXISTS (SELECT FROM {{ storage }} AS s WHERE {{ c.masked }}) AS {{ c.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
