-- The rows that only one of two versions shows in a class: the fewest people of a class whose rows these are.
WITH differing AS MATERIALIZED (
    SELECT
        o.kanon_row IS NOT NULL AS was_there,
        n.kanon_row IS NOT NULL AS is_there,
{% for c in columns %}
        {{ c.shown_before }} AS {{ c.before }},
        {{ c.shown_after }} AS {{ c.after }},
{% endfor %}
{% if entity %}
        o.kanon_person AS o_person,
        n.kanon_person AS n_person,
{% else %}
        o.kanon_row AS o_person,
        n.kanon_row AS n_person,
{% endif %}
        o.kanon_pattern AS o_pattern,
        n.kanon_pattern AS n_pattern
    FROM {{ before }} AS o
    FULL JOIN {{ storage }} AS n ON n.kanon_row = o.kanon_row
    WHERE o.kanon_row IS NULL OR n.kanon_row IS NULL OR o.kanon_pattern <> n.kanon_pattern
{% for c in columns %}
        OR {{ c.shown_before }} IS DISTINCT FROM {{ c.shown_after }}
{% endfor %}
)

SELECT
    (
        SELECT min(people)
        FROM (
            SELECT count(DISTINCT n_person) AS people
            FROM differing
            WHERE is_there
            GROUP BY n_pattern{% for c in columns %}, {{ c.after }}{% endfor %}

        ) AS class
    ) AS fewest_new,
    (
        SELECT min(people)
        FROM (
            SELECT count(DISTINCT o_person) AS people
            FROM differing
            WHERE was_there
            GROUP BY o_pattern{% for c in columns %}, {{ c.before }}{% endfor %}

        ) AS class
    ) AS fewest_gone
