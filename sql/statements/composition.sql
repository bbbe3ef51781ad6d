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

-- name: composition/base_rows(): The rows of a base relation, each with what tells which row it is, whose it is, and who wrote it
-- when.
    SELECT keyed.*,
{% if entity %}
        CASE WHEN keyed.kanon_who IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) END
            AS kanon_person,
{% else %}
        NULL::bigint AS kanon_person,
{% endif %}
{% if keys %}
        pg_catalog.hash_record_extended(ROW({% for k in keys %}{{ k.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0)
            AS kanon_row
{% else %}
        pg_catalog.row_number() OVER () AS kanon_row
{% endif %}
    FROM (
        SELECT
            {% if written %}xmin::text::bigint AS kanon_written, tableoid AS kanon_table,{% endif %}
            {% for k in keys %}{{ k.expression }} AS {{ k.alias }}, {% endfor %}
            {% if entity %}{{ entity.expression }} AS kanon_who,{% endif %}
            {% for c in columns %}{{ c }}{% if not loop.last %},{% endif %} {% endfor %}
        FROM {{ relation }}
    ) AS keyed

-- name: composition/compare(): What the readers of several releases of one table see together. The rows with one history, the
-- same class in each of some releases or shown in none, are what these tell apart; each person counts with the fewest people of a
-- history. Where it is not known which history a row has, the figures are bounds: nobody has fewer candidates, no more people too
-- few.
WITH
{% for b in bases %}
{{ b.rows }} AS MATERIALIZED (SELECT * FROM {{ b.relation }}),
{% endfor %}
{% for s in sources %}
{{ s.name }} AS MATERIALIZED (
{{ s.text }}
),
{% endfor %}
rows_seen AS MATERIALIZED (
    SELECT row_id,
        person{% for s in sources %},
        coalesce(max(class) FILTER (WHERE source = {{ s.number }}), 0) AS {{ s.class }},
        coalesce(pg_catalog.bool_or(NOT is_known) FILTER (WHERE source = {{ s.number }}), false) AS {{ s.unknown }},
        coalesce(pg_catalog.bool_or(is_assumed) FILTER (WHERE source = {{ s.number }}), false) AS {{ s.assumed }}
{% endfor %}
    FROM (
{% for s in sources %}
        SELECT {{ s.number }} AS source, row_id, person, class, is_known, is_assumed FROM {{ s.name }}
        {% if not loop.last %}UNION ALL{% endif %}
{% endfor %}
    ) AS every
    WHERE row_id IS NOT NULL GROUP BY row_id, person
),
-- The rows of each history; where a person may have several rows, those of each person. Class 0: not shown. Whoever has a
-- row whose class is not known, or only assumed, may be alone with it, and is nobody's candidate: what is said are bounds.
history AS MATERIALIZED (
    SELECT
        {% if by_person %}person, {% endif %}{% for s in sources %}{{ s.class }}, {{ s.unknown }}, {{ s.assumed }}, {% endfor %}count(*) AS rows
    FROM rows_seen
    GROUP BY {% if by_person %}person, {% endif %}{% for s in sources %}{{ s.class }}, {{ s.unknown }}, {{ s.assumed }}{% if not loop.last %}, {% endif %}{% endfor %}
),
-- Published rows that are no longer in the table as they were: whose they are is not known.
gone AS (
{% for s in sources %}
    SELECT {{ s.number }} AS source, coalesce(sum(rows), 0)::bigint AS rows FROM {{ s.name }} WHERE row_id IS NULL
    {% if not loop.last %}UNION ALL{% endif %}
{% endfor %}
)
{% for t in together %}
SELECT {{ t.number }} AS number, coalesce(sum(counted.people), 0)::bigint AS people, min(counted.candidates)::bigint AS smallest,
    (sum(counted.people * counted.candidates) / sum(counted.people))::double precision AS average,
    coalesce(sum(counted.people) FILTER (WHERE counted.candidates < {{ t.k }}), 0)::bigint AS people_below,
    ((SELECT coalesce(sum(rows), 0) FROM history WHERE {{ t.unknown }}) + (SELECT sum(g.rows) FROM gone AS g WHERE g.source IN ({{ t.numbers }})))::bigint AS unseen_rows,
    (SELECT coalesce(sum(rows), 0) FROM history WHERE {{ t.undecided }} AND NOT {{ t.unknown }})::bigint AS assumed_rows
FROM (
{% if by_person %}
    SELECT count(*) AS people, each_person.candidates
    FROM (
        SELECT sized.person, min(sized.candidates) AS candidates
        FROM (
            SELECT held.person, greatest(met.candidates, {{ t.fewest }}) AS candidates
            FROM (
                SELECT DISTINCT person, {{ t.classes }} FROM history
                WHERE person IS NOT NULL AND {{ t.shown }} AND NOT {{ t.undecided }}
            ) AS held
            INNER JOIN (
                SELECT {{ t.classes }}, count(DISTINCT person) AS candidates FROM history WHERE NOT {{ t.undecided }}
                GROUP BY {{ t.classes }}
            ) AS met USING ({{ t.classes }})
            UNION ALL
            SELECT person, {{ t.fewest }} FROM history WHERE person IS NOT NULL AND {{ t.undecided }}
        ) AS sized
        GROUP BY sized.person
    ) AS each_person
    GROUP BY each_person.candidates
{% else %}
    SELECT sum(rows) AS people, greatest(sum(rows), {{ t.fewest }}) AS candidates FROM history
    WHERE {{ t.shown }} AND NOT {{ t.undecided }} GROUP BY {{ t.classes }}
    UNION ALL
    SELECT sum(rows), {{ t.fewest }} FROM history WHERE {{ t.undecided }}
    HAVING sum(rows) > 0
{% endif %}
    UNION ALL
    SELECT (SELECT sum(g.rows) FROM gone AS g WHERE g.source IN ({{ t.numbers }})), {{ t.fewest }} WHERE (SELECT sum(g.rows) FROM gone AS g WHERE g.source IN ({{ t.numbers }})) > 0
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

-- name: composition/kept(): The classes of a version that was remembered. Of who was erased it is known only that there were rows.
    SELECT v.row_id, v.person, v.class, true AS is_known, false AS is_assumed, 1::bigint AS rows FROM {{ version }} AS v
    UNION ALL
    SELECT NULL, NULL, NULL, false, false, {{ erased }}::bigint

-- name: composition/layout(): The tables in which the rows of a base table lie, it and its partitions and children, with the
-- place of each column. RENAME exchanges columns and ATTACH PARTITION brings rows, and PostgreSQL writes no row anew for either.
-- So does RENAME VALUE with labels, by which the rules know the values of an enumeration: these stand under the name that no
-- column has, however deep in the column's type the enumeration is: below domains, in arrays, composite types, ranges.
    tree (oid) AS (
        SELECT base.oid FROM base
        UNION
        SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i INNER JOIN tree ON tree.oid = i.inhparent
        WHERE NOT i.inhdetachpending
    ),
    made_of (type, part) AS (
        SELECT a.atttypid, a.atttypid FROM tree
        INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = tree.oid AND a.attnum > 0 AND NOT a.attisdropped
        UNION
        SELECT made_of.type, next.part FROM made_of
        INNER JOIN pg_catalog.pg_type AS t ON t.oid = made_of.part
        CROSS JOIN LATERAL (
            SELECT t.typbasetype AS part
            UNION ALL
            SELECT t.typelem
            UNION ALL
            SELECT a.atttypid FROM pg_catalog.pg_attribute AS a
            WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
            UNION ALL
            SELECT r.rngsubtype FROM pg_catalog.pg_range AS r WHERE t.oid IN (r.rngtypid, r.rngmultitypid)
        ) AS next
        WHERE next.part <> 0
    ),
    layout AS (
        SELECT tree.oid,
            pg_catalog.jsonb_object_agg(a.attname, a.attnum) || pg_catalog.jsonb_build_object('', (
                SELECT coalesce(pg_catalog.jsonb_object_agg(l.oid, l.enumlabel), '{}')
                FROM pg_catalog.pg_attribute AS e
                INNER JOIN made_of ON made_of.type = e.atttypid
                INNER JOIN pg_catalog.pg_enum AS l ON l.enumtypid = made_of.part
                WHERE e.attrelid = tree.oid AND e.attnum > 0 AND NOT e.attisdropped
            )) AS columns
        FROM tree INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = tree.oid AND a.attnum > 0 AND NOT a.attisdropped
        GROUP BY tree.oid
    )

-- name: composition/linked(): The class of each row that a storage shows which says which row is which. What every version of a
-- release over time tells are the cohorts that entered together: they part rows of one class.
    SELECT s.kanon_row AS row_id,
        {% if by_person %}s.kanon_person{% else %}s.kanon_row{% endif %} AS person,
        pg_catalog.hash_record_extended(
            ROW({% for c in cells %}{{ c.hashed }}, {% endfor %}s.kanon_pattern{% if cohorts %}, entered.entered{% endif %}), 0
        ) AS class,
        true AS is_known, false AS is_assumed, 1::bigint AS rows
    FROM {{ storage }} AS s
{% if cohorts %}
    INNER JOIN {{ members }} AS m ON m.row_id = s.kanon_row
    INNER JOIN {{ cohorts }} AS entered ON entered.cohort = m.cohort
{% endif %}

-- name: composition/origins(bigint): From which column of which table each column of a relation comes, unchanged: of a partition
-- those of the partitioned table; of a view or materialized view what its query takes over, as PostgreSQL noted when it was made.
-- A query with others inside it is not followed.
WITH RECURSIVE origin (name, relation, place) AS (
    SELECT a.attname, a.attrelid, a.attnum FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT origin.name, next.relation, next.place FROM origin
    CROSS JOIN LATERAL (
        SELECT a.attrelid AS relation, a.attnum AS place
        FROM pg_catalog.pg_inherits AS i
        INNER JOIN pg_catalog.pg_class AS c ON c.oid = i.inhparent AND c.relkind = 'p'
        INNER JOIN pg_catalog.pg_attribute AS own ON own.attrelid = i.inhrelid AND own.attnum = origin.place
        INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.inhparent AND a.attname = own.attname
        WHERE i.inhrelid = origin.relation
        UNION ALL
        SELECT e.entry[2]::oid, e.entry[3]::smallint FROM pg_catalog.pg_rewrite AS r
        CROSS JOIN LATERAL pg_catalog.regexp_matches(
            r.ev_action::text, ':resno ([0-9]+) [^{}]*?:resorigtbl ([0-9]+) :resorigcol ([0-9]+)', 'g'
        ) AS e (entry)
        WHERE r.ev_class = origin.relation AND r.ev_type = '1' AND e.entry[1] = origin.place::text
            AND e.entry[2] <> '0' AND r.ev_action::text !~ ':querySource.*:querySource'
    ) AS next
)
SELECT DISTINCT ON (origin.name) origin.name::text AS name, origin.relation::bigint AS relation, a.attname::text AS origin
FROM origin
INNER JOIN pg_catalog.pg_class AS c ON c.oid = origin.relation AND c.relkind IN ('r', 'p', 'f') AND NOT c.relispartition
INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = origin.relation AND a.attnum = origin.place
ORDER BY origin.name

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

-- name: composition/recomputed(): The class of each row of the base table in a release that does not say which row is which, by
-- the rules that made it. What the rules give is compared with what is stored. - A settled row was there as it is now when the
-- release read the table: what the rules say of it holds, but for divided row types, where others of its kind may have taken its
-- place. - If the settled rows account for all that is stored, no other row is in the release. - Otherwise the others are taken
-- for what is left of what is stored, where they look like it: is_assumed. Those that do not may have been what is stored and
-- looks like no row: they are not known. Rows that readers of the release cannot tell apart are not known if only chance says
-- which cells they have.
    WITH {% include "guard/base" %}
    {% include "guard/assigned" %}
    {% include "guard/masked" %}
    classed AS (
        SELECT masked.*,
            pg_catalog.hash_record_extended(ROW({% for q in columns %}{{ q.masked_hash }}, {% endfor %}masked.pattern), 0)
                AS class
        FROM masked
        OFFSET 0
    ),
    expected AS MATERIALIZED (
        SELECT classed.person AS row_id,
            {% if by_person %}{{ relation }}.kanon_person{% else %}classed.person{% endif %} AS person,
            {% if settled %}{{ settled }}{% else %}false{% endif %} AS is_settled,
            classed.class,
{% if carried or by_person %}
            pg_catalog.hash_record_extended(
                ROW(classed.class
                    {%- for c in carried %}, {{ c.looks.classed }}{% endfor %}
                    {%- if by_person %}, {{ relation }}.kanon_person{% endif %}), 0
            ) AS published
{% else %}
            classed.class AS published
{% endif %}
        FROM classed
        {% if by_person or settled %}INNER JOIN {{ relation }} ON {{ relation }}.kanon_row = classed.person{% endif %}
    ),
{% if parts %}
    drawn AS MATERIALIZED (
        SELECT one.person AS row_id, min(one.pattern) OVER same_row <> max(one.pattern) OVER same_row AS by_chance
        FROM assigned AS one WHERE one.row_type IN (SELECT d.row_type FROM divided AS d)
        WINDOW same_row AS (PARTITION BY one.row_type{% for c in carried %}, {{ c.looks.one }}{% endfor %})
    ),
{% endif %}
    placed AS MATERIALIZED (
        SELECT expected.*,
{% if parts %}
            drawn.row_id IS NOT NULL AS is_divided, coalesce(drawn.by_chance, false) AS by_chance,
            expected.is_settled AND drawn.row_id IS NULL AS is_certain
        FROM expected
        LEFT JOIN drawn ON drawn.row_id = expected.row_id
{% else %}
            false AS is_divided, false AS by_chance, expected.is_settled AS is_certain
        FROM expected
{% endif %}
    ),
    shown AS (
        SELECT
            pg_catalog.hash_record_extended(ROW({% for c in cells %}{{ c.hashed }}, {% endfor %}s.kanon_pattern), 0) AS class
            {%- for c in carried %},
            {{ c.looks.stored }} AS {{ c.alias }}{% endfor %}
            {%- if by_person %},
            s.kanon_person{% endif %}
        FROM {{ storage }} AS s
        OFFSET 0
    ),
    stored AS (
        SELECT
{% if carried or by_person %}
            pg_catalog.hash_record_extended(
                ROW(shown.class
                    {%- for c in carried %}, shown.{{ c.alias }}{% endfor %}
                    {%- if by_person %}, shown.kanon_person{% endif %}), 0
            ) AS published
{% else %}
            shown.class AS published
{% endif %}
        FROM shown
    ),
    compared AS MATERIALIZED (
        SELECT published, count(*) FILTER (WHERE is_here) AS here, count(*) FILTER (WHERE NOT is_here) AS there,
            count(*) FILTER (WHERE is_certain) AS certain
        FROM (
            SELECT published, true AS is_here, is_certain FROM placed UNION ALL SELECT published, false, false FROM stored
        ) AS both_sides
        GROUP BY published
    ),
    account AS MATERIALIZED (
        SELECT coalesce(sum(there - here) FILTER (WHERE there > here), 0)::bigint AS missing,
            coalesce(pg_catalog.bool_or(there > certain), false) AS is_open,
{% if was_refreshed %}
            false AS is_whole
{% else %}
            -- All rows are as the release found them, and it shows all.
            pg_catalog.bool_and(there = here) AND (SELECT pg_catalog.bool_and(p.is_settled) FROM placed AS p) AS is_whole
{% endif %}
        FROM compared
    ),
    found AS (
        SELECT placed.row_id, placed.person,
            CASE WHEN compared.there > CASE WHEN placed.is_certain THEN 0 ELSE compared.certain END THEN placed.class END
                AS class,
            placed.is_certain OR NOT account.is_open
            OR (NOT placed.by_chance AND (
                compared.there >= compared.here OR (compared.there = compared.certain AND account.missing = 0)
            )) AS is_known,
            NOT placed.is_certain AND account.is_open AND NOT (placed.is_divided AND account.is_whole) AS is_assumed
        FROM placed
        INNER JOIN compared ON compared.published = placed.published
        CROSS JOIN account
    )
    SELECT row_id, person, class, is_known, is_assumed, 1::bigint AS rows FROM found
    WHERE class IS NOT NULL OR NOT is_known OR is_assumed
    UNION ALL
    SELECT NULL, NULL, NULL, false, false, account.missing FROM account

-- name: composition/recorded(text): What a release was made with, besides what fetch_release says, and whether readers may have
-- had other versions. Rows whose version was written by a transaction before settled_before were read as they are now, if they
-- lie in one of settled_tables: those that were read, and have the columns where they were. It is NULL where versions of rows say
-- no such thing: of views, of tables elsewhere, on a server that the release was restored to, and once numbers of transactions
-- begin again. A refresh ends that only where it reads the columns that were read when it was published.
WITH RECURSIVE base (oid) AS (SELECT m.relation::oid FROM kanon.release AS m WHERE m.name = $1::text),
{% include "composition/layout" %}
SELECT
    r.relation::oid::bigint AS base, r.parameters::text AS parameters, r.hash_seed, r.refreshed_at IS NOT NULL AS was_refreshed,
    kanon.base_changes(r.relation) IS NOT NULL AS is_versioned,
    NOT EXISTS (
        SELECT
        FROM pg_catalog.unnest(r.quasi_identifiers || r.sensitive || r.insensitive || r.entity) AS read (name)
        CROSS JOIN layout
        WHERE layout.oid = r.relation::oid
            AND r.settled_layout -> r.relation::oid::text -> read.name::text IS DISTINCT FROM layout.columns -> read.name::text
    ) AS is_read_alike,
    CASE
        WHEN kanon.base_changes(r.relation) IS NOT NULL
            AND r.settled_on = (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c)
            AND pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint - r.settled_before < 1073741824
            THEN r.settled_before
    END AS settled_before,
    ARRAY(
        SELECT layout.oid::text
        FROM pg_catalog.jsonb_each(r.settled_layout) AS then_read (oid, columns)
        INNER JOIN layout ON layout.oid::text = then_read.oid AND then_read.columns <@ layout.columns
        INNER JOIN pg_catalog.pg_class AS c ON c.oid = layout.oid
        INNER JOIN pg_catalog.pg_am AS a ON a.oid = c.relam
        WHERE a.amname = 'heap' ORDER BY layout.oid
    ) AS settled_tables
FROM kanon.release AS r WHERE r.name = $1::text

-- name: composition/remember(): The class of each row in a version of a release, as long as it is remembered.
CREATE TABLE {{ version }} AS
SELECT row_id, person, class FROM (
{% include "composition/linked" %}
) AS shown

-- name: composition/repeats(): Whether two rows have one identity.
SELECT count(*) > count(DISTINCT read.kanon_row) AS repeats FROM {{ relation }} AS read

-- name: composition/same_table(bigint, bigint): A table that two base relations of releases both read; NULL if there is none.
WITH RECURSIVE {% include "composition/reads" %}
SELECT min(pg_catalog.format('%I.%I', n.nspname, c.relname)) AS relation
FROM reads AS one
INNER JOIN reads AS other ON other.oid = one.oid
INNER JOIN pg_catalog.pg_class AS c ON c.oid = one.oid AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE one.relation = $1::bigint::oid AND other.relation = $2::bigint::oid

-- name: composition/settled(bigint): All transactions before this one have ended: later statements of this transaction see what
-- they wrote. And where the rows of a table lie, whose columns have which places, and how often they have changed.
WITH RECURSIVE base (oid) AS (SELECT $1::bigint::oid),
{% include "composition/layout" %}
SELECT pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::text::bigint AS before,
    (SELECT pg_catalog.jsonb_object_agg(layout.oid::text, layout.columns) FROM layout)::text AS layout,
    kanon.base_changes($1::bigint::oid::regclass) AS changes

-- name: composition/space(text): How much space the versions take that are remembered of a release.
SELECT count(*) AS versions, pg_catalog.pg_size_pretty(coalesce(sum(pg_catalog.pg_total_relation_size(m.classes)), 0)) AS size
FROM kanon.remembered AS m WHERE m.release = $1::text

-- name: composition/store_version(text, bigint, text, text[], integer, text): Records a version that is remembered.
INSERT INTO kanon.remembered (release, version, classes, key_columns, k, entity)
VALUES ($1::text, $2::bigint, $3::text::regclass, $4::text[]::name[], $5::integer, $6::text::name)
