-- name: fetch_declaration(bigint): The declared roles of a relation's columns.
SELECT identifiers::text[] AS identifiers, quasi_identifiers::text[] AS quasi_identifiers, sensitive::text[] AS sensitive,
    insensitive::text[] AS insensitive, entity::text AS entity, weights::text AS weights, row_types_view::text AS row_types_view
FROM kanon.declaration WHERE relation = $1::bigint::oid::regclass

-- name: store_declaration(bigint, text[], text[], text[], text[], text, text, text, text):
-- Records or replaces the roles of a relation's columns.
INSERT INTO kanon.declaration AS d (
    relation, identifiers, quasi_identifiers, sensitive, insensitive, entity, weights, row_types_view, declared_by
)
VALUES (
    $1::bigint::oid::regclass, $2::text[]::name[], $3::text[]::name[], $4::text[]::name[], $5::text[]::name[],
    $6::text::name, $7::text::jsonb, $8::text::name, $9::text::name
)
ON CONFLICT (relation) DO UPDATE SET
    identifiers = excluded.identifiers, quasi_identifiers = excluded.quasi_identifiers, sensitive = excluded.sensitive,
    insensitive = excluded.insensitive, entity = excluded.entity, weights = excluded.weights,
    row_types_view = excluded.row_types_view, declared_by = excluded.declared_by, declared_at = pg_catalog.now()

-- name: forget_declaration(bigint): Removes a declaration; returns the name of its view of row types.
DELETE FROM kanon.declaration WHERE relation = $1::bigint::oid::regclass RETURNING row_types_view::text AS row_types_view

-- name: create_row_types_view(): The view that counts a relation's row types, for whoever may read the relation at that moment.
CREATE VIEW {{ view }} AS SELECT * FROM {{ source }}

-- name: other_row_types_view(text, bigint): Whether a view of row types of this name belongs to another relation that still exists.
SELECT 1 AS taken FROM kanon.declaration
WHERE row_types_view = $1::text::name AND relation <> $2::bigint::oid::regclass
    AND EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.oid = relation)

-- name: roles_declared(bigint): The declared roles of a relation's columns.
SELECT identifiers::text[] AS identifiers, quasi_identifiers::text[] AS quasi_identifiers, sensitive::text[] AS sensitive,
    insensitive::text[] AS insensitive, entity::text AS entity, weights::text AS weights
FROM kanon.declarations WHERE relation = $1::bigint::oid::regclass

-- name: roles_published(bigint): The roles of a release's columns for whoever may read it, but not what only curators know of it.
SELECT '{}'::text[] AS identifiers, quasi_identifiers::text[] AS quasi_identifiers, sensitive::text[] AS sensitive,
    insensitive::text[] AS insensitive, NULL::text AS entity, NULL::text AS weights, release::text AS release,
    NULL::bigint AS hidden_people, counts_people, NULL::double precision AS certainty_penalty,
    NULL::double precision AS generalization_height, NULL::double precision AS entropy_loss,
    NULL::double precision AS marginal_divergence
FROM kanon.published_roles WHERE view = $1::bigint::oid::regclass

-- name: roles_released(bigint): The roles of a release's columns, and what it lost when it was published; who a row belongs to is
-- not published.
SELECT '{}'::text[] AS identifiers, quasi_identifiers::text[] AS quasi_identifiers, sensitive::text[] AS sensitive,
    insensitive::text[] AS insensitive, NULL::text AS entity, NULL::text AS weights, release::text AS release,
    CASE WHEN entity IS NOT NULL THEN people END AS hidden_people, FALSE AS counts_people, certainty_penalty,
    generalization_height, entropy_loss, marginal_divergence
FROM kanon.releases WHERE view = $1::bigint::oid::regclass

-- name: telling_columns(): The values of some columns in a random sample of the rows, one for each person, as numbers in one
-- order of the rows.
SELECT
{% for c in columns %}
    coalesce(pg_catalog.array_agg({{ c.identity }}), '{}') AS {{ c.alias }}{% if not loop.last %},{% endif %}
{% endfor %}
FROM (
    SELECT{% if entity %} DISTINCT ON (r.{{ entity }}){% endif %}{% for c in columns %} r.{{ c.name }} AS {{ c.alias }}{% if not loop.last %},{% endif %}{% endfor %}
    FROM {{ relation }} AS r WHERE pg_catalog.random() < {{ share }} LIMIT {{ rows }}
) AS drawn

-- name: masked_columns(): In which quasi-identifiers of a release some cell is suppressed or generalized.
SELECT
{% for c in columns %}
    EXISTS (SELECT FROM {{ storage }} AS s WHERE s.kanon_pattern & {{ c.mask }} <> 0) AS {{ c.alias }}{% if not loop.last %},{% endif %}
{% endfor %}

-- name: generated_columns(bigint): The generated columns of a relation, or of its partitions and children, and the columns that
-- each is computed from.
WITH RECURSIVE tree (oid) AS (
    SELECT $1::bigint::oid UNION SELECT i.inhrelid FROM tree INNER JOIN pg_catalog.pg_inherits AS i ON i.inhparent = tree.oid
)
SELECT DISTINCT a.attname::text AS generated, s.attname::text AS source
FROM tree
INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = tree.oid AND a.attgenerated <> '' AND NOT a.attisdropped
INNER JOIN pg_catalog.pg_attrdef AS e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
INNER JOIN pg_catalog.pg_depend AS d
    ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = a.attrelid
    AND d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass AND d.objid = e.oid
INNER JOIN pg_catalog.pg_attribute AS s ON s.attrelid = a.attrelid AND s.attnum = d.refobjsubid AND s.attnum <> a.attnum
ORDER BY generated, source

-- name: repeated_identifiers(): In which columns some value occurs in several of the first rows; a look at some rows is enough,
-- and quick.
SELECT
{% for column in columns %}
    EXISTS (
        SELECT
        FROM (
            SELECT r.{{ column.name }} AS value FROM {{ relation }} AS r WHERE r.{{ column.name }} IS NOT NULL LIMIT {{ rows }}
        ) AS first_rows
        GROUP BY value HAVING count(*) > 1
    ) AS {{ column.alias }}{% if not loop.last %},{% endif %}
{% endfor %}

-- name: distinct_values(): How many rows have a value in each column, and how many values there are, among the first rows.
SELECT
{% for column in columns %}
    (
        SELECT ARRAY[count(value), count(DISTINCT value)]
        FROM (SELECT {{ column.seen }} AS value FROM {{ relation }} AS r LIMIT {{ rows }}) AS first_rows
    ) AS {{ column.alias }}{% if not loop.last %},{% endif %}
{% endfor %}

-- name: is_empty(): Whether a relation has no rows; one of them is asked for, because Citus reads all that a condition might look at.
SELECT pg_catalog.count(*) = 0 AS empty FROM (SELECT 1 FROM {{ relation }} LIMIT 1) AS one

-- name: known_to_caller(): Whose rights count, and whether that role may read what kanon knows about relations.
SELECT CURRENT_USER::text AS role, coalesce(pg_catalog.bool_or(c.relname = 'declarations'), FALSE) AS declarations,
    coalesce(pg_catalog.bool_or(c.relname = 'releases'), FALSE) AS releases,
    coalesce(pg_catalog.bool_or(c.relname = 'published_roles'), FALSE) AS published_roles
FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'kanon' AND c.relname IN ('declarations', 'releases', 'published_roles')
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
