-- The rows that wait for a better class in a later version: those of the costliest classes of a batch that cost more
-- than a row of the release does now, as long as not too many people wait and nobody in the class waited long enough.
CREATE TABLE {{ waits }} AS
WITH entered AS (
    SELECT
        s.kanon_row,
{% if entity %}
        s.kanon_person AS person,
{% else %}
        s.kanon_row AS person,
{% endif %}
{% for c in losses %}
        {{ c }}{% if not loop.last %} +{% endif %}

{% endfor %}
        AS loss,
        p.since,
        min(s.kanon_row) OVER (
            PARTITION BY
                pg_catalog.hash_record_extended(ROW({% for h in hashed %}{{ h }}, {% endfor %}s.kanon_pattern), 0),
                s.kanon_pattern{% for c in classes %}, s.{{ c }}{% endfor %}

        ) AS class
    FROM {{ storage }} AS s
    INNER JOIN {{ pending }} AS p ON p.row_id = s.kanon_row
),

costly AS (
    SELECT
        held.class,
        sum(held.people) OVER (ORDER BY held.loss DESC, held.class ROWS UNBOUNDED PRECEDING) AS together
    FROM (
        SELECT e.class, e.loss, count(DISTINCT e.person) AS people, min(e.since) AS since
        FROM entered AS e
        GROUP BY e.class, e.loss
    ) AS held
    WHERE held.loss > (
            SELECT r.weighted_cost / greatest(1, r.rows) FROM kanon.release AS r WHERE r.name = {{ release }}
        )
        AND {{ version }} - held.since < {{ longest_wait }}
)

SELECT e.kanon_row AS row_id
FROM entered AS e
INNER JOIN costly AS d ON d.class = e.class
WHERE d.together <= {{ most }}
