-- Lets the chosen rows wait, if they have not waited for too long; chance says which of a row type.
DELETE FROM {{ entering }} AS e
USING (
    SELECT numbered.kanon_row
    FROM (
        SELECT
            typed.kanon_row,
            typed.kanon_waited,
            chosen.n,
            pg_catalog.row_number() OVER (PARTITION BY typed.key ORDER BY pg_catalog.gen_random_uuid()) AS place
        FROM (
            SELECT types.kanon_row, types.kanon_waited, {% include "counting/type_key.sql" %} AS key
            FROM (
                SELECT
{% for q in columns %}
                    {{ q.expression }} AS {{ q.alias }},
{% endfor %}
                    l.kanon_row, l.kanon_waited
                FROM {{ lookahead }} AS l
            ) AS types
        ) AS typed
        INNER JOIN {{ chosen }} AS chosen ON chosen.row_type = typed.key
    ) AS numbered
    WHERE numbered.place <= numbered.n
        AND numbered.kanon_waited BETWEEN 0 AND {{ longest_wait }} - 1
) AS waits
WHERE e.kanon_row = waits.kanon_row
