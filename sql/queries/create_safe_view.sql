-- What analysts read: no ctid, no xmin, and which cells were suppressed.
CREATE OR REPLACE VIEW {{ view }} AS
SELECT
{% for name in published %}
    {{ name }},
{% endfor %}
    pg_catalog.array_remove(ARRAY[
{% for q in columns %}
        CASE WHEN {{ q.is_suppressed }} THEN {{ q.label }}::name END{% if not loop.last %},{% endif %}

{% endfor %}
    ], NULL) AS kanon_suppressed
FROM {{ storage }}
