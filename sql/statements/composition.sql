-- name: releases_for_same_readers(text): Other releases of the same base relation, or of one that reads a table which this one
-- reads, that somebody may read who may read a release, but not the base relation; those of the same first, the latest first.
WITH RECURSIVE {% include "composition/reads" %}
SELECT o.name AS release, o.relation = r.relation AS is_same, o.rows, r.rows AS own_rows,
    pg_catalog.array_agg(reader.rolname::text ORDER BY reader.rolname) AS readers
FROM kanon.release AS r
INNER JOIN kanon.release AS o
    ON o.name <> r.name
    AND EXISTS (
        SELECT FROM reads AS one INNER JOIN reads AS other ON other.oid = one.oid
        WHERE one.relation = r.relation::oid AND other.relation = o.relation::oid
    )
INNER JOIN pg_catalog.pg_class AS v ON v.relname = r.name::name AND v.relnamespace = 'safe'::regnamespace
INNER JOIN pg_catalog.pg_class AS w ON w.relname = o.name::name AND w.relnamespace = 'safe'::regnamespace
INNER JOIN pg_catalog.pg_class AS b ON b.oid = r.relation
INNER JOIN pg_catalog.pg_roles AS reader
    -- nobody is one of kanon's own
    ON reader.rolname !~ '^(pg_|kanon_(owner|reader|base_[0-9]+)$)'
    AND NOT pg_catalog.has_table_privilege(reader.oid, b.oid, 'SELECT')
    AND pg_catalog.has_schema_privilege(reader.oid, v.relnamespace, 'USAGE')
    AND pg_catalog.has_table_privilege(reader.oid, v.oid, 'SELECT')
    AND pg_catalog.has_table_privilege(reader.oid, w.oid, 'SELECT')
WHERE r.name = $1::text GROUP BY o.name, o.relation, o.rows, r.relation, r.rows, o.published_at
ORDER BY o.relation <> r.relation, o.published_at DESC, o.name

-- name: composition/compare(): What the readers of several releases of one table see together. The rows with one history, the
-- same class in each of some releases or shown in none, are what these tell apart; each person counts with the fewest people of a
-- history. Whoever was erased may be alone, and is nobody's candidate: then the figures are bounds.
WITH
-- The rows of each history; where a person may have several rows, those of each person. Class 0: not shown.
history AS MATERIALIZED (
    SELECT
        {% if by_person %}person, {% endif %}{% for s in sources %}{{ s.class }}, {% endfor %}count(*) AS rows
    FROM (
        SELECT row_id,
            person{% for s in sources %},
            coalesce(max(class) FILTER (WHERE source = {{ s.number }}), 0) AS {{ s.class }}
{% endfor %}
        FROM (
{% for s in sources %}
            SELECT {{ s.number }} AS source, row_id, person, class FROM (
{{ s.text }}
            ) AS shown
            {% if not loop.last %}UNION ALL{% endif %}
{% endfor %}
        ) AS every
        GROUP BY row_id, person
    ) AS rows_seen
    GROUP BY {% if by_person %}person, {% endif %}{% for s in sources %}{{ s.class }}{% if not loop.last %}, {% endif %}{% endfor %}
)
{% for t in together %}
SELECT {{ t.number }} AS number, coalesce(sum(counted.people), 0)::bigint AS people, min(counted.candidates)::bigint AS smallest,
    (sum(counted.people * counted.candidates) / sum(counted.people))::double precision AS average,
    coalesce(sum(counted.people) FILTER (WHERE counted.candidates < {{ t.k }}), 0)::bigint AS people_below
FROM (
{% if by_person %}
    SELECT count(*) AS people, each_person.candidates
    FROM (
        SELECT held.person, min(greatest(met.candidates, {{ t.fewest }})) AS candidates
        FROM (SELECT DISTINCT person, {{ t.classes }} FROM history WHERE person IS NOT NULL AND ({{ t.shown }})) AS held
        INNER JOIN (
            SELECT {{ t.classes }}, count(DISTINCT person) AS candidates FROM history GROUP BY {{ t.classes }}
        ) AS met USING ({{ t.classes }})
        GROUP BY held.person
    ) AS each_person
    GROUP BY each_person.candidates
{% else %}
    SELECT sum(rows) AS people, greatest(sum(rows), {{ t.fewest }}) AS candidates FROM history WHERE {{ t.shown }}
    GROUP BY {{ t.classes }}
{% endif %}
    {% if t.unseen %}UNION ALL SELECT {{ t.unseen }}, {{ t.fewest }}{% endif %}
) AS counted
{% if not loop.last %}UNION ALL{% endif %}
{% endfor %}

-- name: composition/erase_version(bigint, text, bigint): Erases a person from a version that is remembered; their rows are only
-- counted from now on.
WITH erased AS (DELETE FROM {{ version }} WHERE person = $1::bigint RETURNING row_id)
UPDATE kanon.remembered SET erased_rows = erased_rows + (SELECT count(*) FROM erased)
WHERE release = $2::text AND version = $3::bigint AND EXISTS (SELECT FROM erased)

-- name: composition/fetch_versions(text): The versions of a release that are remembered, the latest first.
SELECT m.version, c.relname::text AS classes, m.key_columns::text[] AS key_columns, m.k, m.entity::text AS entity, m.erased_rows
FROM kanon.remembered AS m LEFT JOIN pg_catalog.pg_class AS c ON c.oid = m.classes
WHERE m.release = $1::text ORDER BY m.version DESC

-- name: composition/forget_version(text, bigint): Removes the record of a version that was remembered.
DELETE FROM kanon.remembered WHERE release = $1::text AND version = $2::bigint

-- name: composition/has_person(bigint): Whether a relation has rows of a person, who is known by a number.
SELECT EXISTS (
    SELECT
    FROM (
        SELECT
            {% for k in keys %}{{ k.expression }} AS {{ k.alias }}{% if not loop.last %},{% endif %} {% endfor %}
        FROM {{ relation }}
    ) AS keyed
    WHERE pg_catalog.hash_record_extended(ROW({% for k in keys %}{{ k.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0)
        = $1::bigint
) AS found

-- name: composition/kept(): The classes of a version that was remembered.
    SELECT row_id, person, class FROM {{ version }}

-- name: composition/linked(): The class of each row that a storage shows which says which row is which. What every version of a
-- release over time tells are the cohorts that entered together: they part rows of one class.
    SELECT s.kanon_row AS row_id,
        {% if by_person %}s.kanon_person{% else %}s.kanon_row{% endif %} AS person,
        pg_catalog.hash_record_extended(
            ROW({% for c in cells %}{{ c.hashed }}, {% endfor %}s.kanon_pattern{% if cohorts %}, entered.entered{% endif %}), 0
        ) AS class
    FROM {{ storage }} AS s
{% if cohorts %}
    INNER JOIN {{ members }} AS m ON m.row_id = s.kanon_row
    INNER JOIN {{ cohorts }} AS entered ON entered.cohort = m.cohort
{% endif %}

-- name: composition/partitioned(bigint): The table that a relation is a partition of, else the relation itself.
SELECT coalesce(pg_catalog.pg_partition_root($1::bigint::oid), $1::bigint::oid)::oid::bigint AS relation

-- name: composition/reads(): What the base relations of releases read: themselves, what they are partitions and children of, and
-- what views are made of. Releases whose base relations read one table are taken to be about the same people.
reads (relation, oid) AS (
    SELECT DISTINCT r.relation::oid, r.relation::oid FROM kanon.release AS r
    UNION
    SELECT reads.relation, next.oid FROM reads
    CROSS JOIN LATERAL (
        SELECT i.inhparent AS oid FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = reads.oid
        UNION ALL
        SELECT d.refobjid FROM pg_catalog.pg_rewrite AS w
        INNER JOIN pg_catalog.pg_depend AS d
            ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
            AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        WHERE w.ev_class = reads.oid AND d.refobjid <> reads.oid
    ) AS next
)

-- name: composition/remember(): The class of each row in a version of a release, as long as it is remembered.
CREATE TABLE {{ version }} AS
SELECT row_id, person, class FROM (
{% include "composition/linked" %}
) AS shown

-- name: composition/space(text): How much space the versions take that are remembered of a release.
SELECT count(*) AS versions, pg_catalog.pg_size_pretty(coalesce(sum(pg_catalog.pg_total_relation_size(m.classes)), 0)) AS size
FROM kanon.remembered AS m WHERE m.release = $1::text

-- name: composition/store_version(text, bigint, text, text[], integer, text): Records a version that is remembered.
INSERT INTO kanon.remembered (release, version, classes, key_columns, k, entity)
VALUES ($1::text, $2::bigint, $3::text::regclass, $4::text[]::name[], $5::integer, $6::text::name)
