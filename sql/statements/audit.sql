-- name: audit_class_sizes(text): How many classes of a release have how many people, in how many of them all have the same
-- sensitive value, and how many different people have no smaller one of either kind.
SELECT people, classes, rows, homogeneous, homogeneous_rows, different_people, homogeneous_people
FROM kanon.release_class_sizes($1::text)

-- name: audit_releases(bigint): The releases of a relation that the caller may read, with what they cost.
SELECT release, view::text AS view, quasi_identifiers::text[] AS quasi_identifiers, sensitive::text[] AS sensitive, k,
    suppressed_cells, suppressed_share, certainty_penalty, generalization_height, entropy_loss, marginal_divergence
FROM kanon.releases WHERE base = $1::bigint::oid::regclass AND pg_catalog.has_table_privilege(view, 'SELECT')
ORDER BY release

-- name: audit_smallest_class(): Fewest people who share their values of some columns, counted by PostgreSQL's own equality. A
-- class in which nobody is known counts as one person.
WITH source AS (
    SELECT
        {% for column in columns %}{{ column.name }} AS {{ column.alias }}, {% endfor %}
        {% if entity %}{{ entity }}{% else %}NULL{% endif %} AS person
    FROM {{ relation }}
){% if entity %},
people AS (SELECT {{ keys }}, person FROM source GROUP BY {{ keys }}, person)
{% endif %}
SELECT min(size) AS smallest
FROM (
    {% if entity %}SELECT greatest(1, count(person)) AS size FROM people{% else %}SELECT count(*) AS size FROM source{% endif %}
    GROUP BY {{ keys }}
) AS class

-- name: suggest_columns(): How many rows have no value in each column, and how long texts are.
SELECT
    count(*) AS rows
{% for column in columns %}
    , count(*) - count({{ column.name }}) AS {{ column.missing }}
{% if column.is_text %}
    , avg(pg_catalog.char_length({{ column.name }}::text))::double precision AS {{ column.length }}
{% endif %}
{% endfor %}
FROM {{ relation }}

-- name: suggest_values(): Some values of each column, of texts the beginnings.
SELECT
{% for column in columns %}
    pg_catalog.array_agg(pg_catalog."left"({{ column.text }}, 80)) FILTER (WHERE {{ column.text }} IS NOT NULL) AS {{ column.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
FROM {{ source }}

-- name: suggest_references(bigint): Columns that alone refer to another table, with the names of these tables.
SELECT a.attname::text AS name, t.relname::text AS referred
FROM pg_catalog.pg_constraint AS c
INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
INNER JOIN pg_catalog.pg_class AS t ON t.oid = c.confrelid
WHERE c.conrelid = $1::bigint::oid AND c.contype = 'f' AND pg_catalog.cardinality(c.conkey) = 1
ORDER BY a.attnum, t.relname

-- name: suggest_linked(bigint): Tables that refer to the rows of a table, directly or through others, by foreign keys that links can
-- rely on: each with what it refers to, after that, and whether it is linked already.
WITH RECURSIVE refers AS MATERIALIZED (
    SELECT DISTINCT f.child, f.parent FROM (
{% include "foreign_keys" %}
    ) AS f
    WHERE f.validated AND f.nullable = '{}' AND NOT f.inherited AND pg_catalog.has_table_privilege(f.child, 'SELECT')
),
below (child, parent, way) AS (
    SELECT r.child, r.parent, ARRAY[r.parent, r.child] FROM refers AS r WHERE r.parent = $1::bigint::oid AND r.child <> r.parent
    UNION ALL
    SELECT r.child, r.parent, b.way || r.child FROM below AS b INNER JOIN refers AS r ON r.parent = b.child
    WHERE r.child <> ALL (b.way) AND pg_catalog.cardinality(b.way) < 6
),
-- as far from the people as it can be: what hangs on visits may refer to the patient, too
farthest AS (SELECT DISTINCT ON (b.child) b.child, b.parent, b.way FROM below AS b ORDER BY b.child, pg_catalog.cardinality(b.way) DESC, b.way)
SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS child, pg_catalog.format('%I.%I', m.nspname, p.relname) AS parent,
    EXISTS (SELECT FROM kanon.linked_above(f.child) AS a (relation) WHERE a.relation = f.parent) AS is_linked
FROM farthest AS f
INNER JOIN pg_catalog.pg_class AS c ON c.oid = f.child INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
INNER JOIN pg_catalog.pg_class AS p ON p.oid = f.parent INNER JOIN pg_catalog.pg_namespace AS m ON m.oid = p.relnamespace
ORDER BY pg_catalog.cardinality(f.way), c.relname, f.child

-- name: suggest_repeated(): In which columns some value occurs in several rows.
SELECT
{% for column in columns %}
    EXISTS (
        SELECT 1 FROM {{ relation }} AS r WHERE r.{{ column.name }} IS NOT NULL GROUP BY r.{{ column.name }} HAVING count(*) > 1
    ) AS {{ column.alias }}{% if not loop.last %},{% endif %}
{% endfor %}

-- name: suggest_varying(): In which columns some row differs from others, NULL being a value. Records compare their fields as
-- GROUP BY does, and no operator of others has a say.
SELECT
{% for column in columns %}
    EXISTS (
        SELECT 1 FROM {{ relation }} AS r
        WHERE NOT ROW(r.{{ column.name }})::pg_catalog.record OPERATOR(pg_catalog.=)
            ROW((SELECT f.{{ column.name }} FROM {{ relation }} AS f LIMIT 1))::pg_catalog.record
    ) AS {{ column.alias }}{% if not loop.last %},{% endif %}
{% endfor %}
