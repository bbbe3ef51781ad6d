-- What analysts read: no ctid, no xmin, and which cells were suppressed. A version of a release over time is not for
-- the transaction that builds it: what it read and then rolled back, the next version would not know.
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
{% if unseen_by %}
WHERE (SELECT pg_catalog.pg_current_xact_id_if_assigned()) IS DISTINCT FROM {{ unseen_by }}::xid8
{% endif %}
