{# Every row with the pattern of its row type. Rows of a divided row type are numbered by a hash with a secret
   seed: to readers that is chance, and nothing in a row, a sensitive value least of all, says whether it is suppressed.
   A refresh leaves them as they are: drawn anew, a row would show other cells each time, and all of them in the end.
   Rows with equal hashes look alike wherever readers see them. The second hash leaves nothing of the sum of which the
   first consists. #}
{% if parts %}
typed AS MATERIALIZED (
    SELECT
        base.*,
        {% include "guard/row_type.sql" %} AS row_type
    FROM base
),

divided AS MATERIALIZED (
    SELECT
        row_type,
        pg_catalog.array_agg(first_row ORDER BY first_row) AS first_rows,
        pg_catalog.array_agg(pattern ORDER BY first_row) AS patterns,
        min(seed) AS seed
    FROM {{ parts }}
    GROUP BY row_type
),

numbered AS (
    SELECT
        typed.*,
        pg_catalog.row_number() OVER (
            PARTITION BY typed.row_type
            ORDER BY pg_catalog.hash_record_extended(ROW(pg_catalog.int8send(pg_catalog.hash_record_extended(
                ROW({% for c in model_columns + carried %}{{ c.looks.typed }}{% if not loop.last %}, {% endif %}{% endfor %}), d.seed
            ))), d.seed)
        ) AS row_number
    FROM typed
    INNER JOIN divided AS d ON d.row_type = typed.row_type
),

assigned AS (
    SELECT typed.*, mapping.pattern
    FROM typed
    LEFT JOIN {{ mapping }} AS mapping ON mapping.row_type = typed.row_type
    WHERE NOT EXISTS (SELECT FROM divided AS d WHERE d.row_type = typed.row_type)
    UNION ALL
    SELECT
{% for q in columns + model_columns + carried %}
        numbered.{{ q.alias }},
{% endfor %}
{% if entity %}
        numbered.person,
{% if source %}
        numbered.ordinality,
{% endif %}
{% endif %}
        numbered.row_type,
        divided.patterns[pg_catalog.width_bucket(numbered.row_number, divided.first_rows)]
    FROM numbered
    INNER JOIN divided ON divided.row_type = numbered.row_type
),
{% else %}
assigned AS (
    SELECT base.*, mapping.pattern
    FROM base
    LEFT JOIN {{ mapping }} AS mapping
        ON mapping.row_type = {% include "guard/row_type.sql" %}

),
{% endif %}
