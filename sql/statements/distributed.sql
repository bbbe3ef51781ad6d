-- name: on_citus(): Whether this database has Citus.
SELECT pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS on_citus

-- name: distributed/ask_nodes(): Which nodes of Citus the current role can log in to from here, and the state of the schema that
-- only the owner role may use: closed, open, missing; the coordinator first.
WITH here (state) AS (
{% include "distributed/schema_state" %}
)
SELECT 'the coordinator' AS node, true AS success, here.state FROM here
UNION ALL
SELECT w.nodename || ':' || w.nodeport, w.success, CASE WHEN w.success THEN w.result END
FROM pg_catalog.run_command_on_workers($ask$
{% include "distributed/schema_state" %}
$ask$) AS w

-- name: distributed/base_rows(): The rows of the base table as the nodes read them, with the shard that each goes to and where it
-- is stored.
SELECT
        {% for q in columns %}{{ q.expression }} AS {{ q.alias }}, {% endfor %}
        {% for c in carried %}{{ c.expression }} AS {{ c.alias }}, {% endfor %}
        {% if entity %}{{ entity.expression }} AS person,{% endif %}
        {{ place }} AS kanon_place, pg_catalog.concat_ws(' ', {{ place }}, r.tableoid, r.ctid) AS kanon_at
    FROM {{ relation }} AS r

-- name: distributed/chance(): Where a row of a divided row type stands among those of its type: chance with a secret seed, as in
-- guard/assigned.sql; rows that look alike are told apart by where they are stored.
(pg_catalog.hash_record_extended(ROW(pg_catalog.int8send(pg_catalog.hash_record_extended(
            ROW({% for c in carried %}{{ c.looks.base }}{% if not loop.last %}, {% endif %}{% endfor %}), {{ row_seed }}
        ))), {{ row_seed }}) & -4294967296)
        | (pg_catalog.hashtextextended(base.kanon_at, {{ row_seed }}) & 4294967295)

-- name: distributed/class_hash(): A number for the class of a stored row, by its cells and pattern.
pg_catalog.hash_record_extended(ROW({% for q in columns %}{{ q.stored_hash }}, {% endfor %}s.kanon_pattern), 0)

-- name: distributed/close_reader(): Takes what everybody has by default.
REVOKE ALL ON FUNCTION {{ reader }} FROM PUBLIC

-- name: distributed/collect_small(): The classes of fewer than k people among what was stored: the nodes count, the coordinator
-- adds up by the classes' numbers. Classes that share a number would be counted as one, which the recount of what is published
-- notices.
CREATE TABLE {{ small }} AS
SELECT class
FROM (
{% if entity %}
    SELECT class, sum(somebody) AS people
    FROM (
        SELECT {% include "distributed/class_hash" %} AS class, (s.kanon_person IS NOT NULL)::integer AS somebody
        FROM {{ storage }} AS s
        GROUP BY {% include "distributed/class_hash" %}, s.kanon_place, s.kanon_person
    ) AS held
    GROUP BY class
{% else %}
    SELECT {% include "distributed/class_hash" %} AS class, count(*) AS people
    FROM {{ storage }} AS s
    GROUP BY {% include "distributed/class_hash" %}
{% endif %}
) AS counted
WHERE people < {{ k }}

-- name: distributed/count_people(): How many people a release on all nodes has, counted where their rows are.
SELECT count(*) AS people
FROM (SELECT kanon_person FROM {{ storage }} WHERE kanon_person IS NOT NULL GROUP BY kanon_place, kanon_person) AS person

-- name: distributed/count_row_types(): Row types with multiplicities, as count_row_types gives them, of a table that is
-- distributed by who a row is about: each node counts the people of its shards for good, in one pass. What travels is row types
-- with counts of rows, people and people who have no other row type, and a number for each person who has others. The numbers of
-- those who have none are drawn here.
WITH types AS MATERIALIZED (
    SELECT
        {% for q in columns %}{{ q.alias }}, {% endfor %}
        sum(n)::bigint AS n, count(*) AS people, sum(lone)::bigint AS lone,
        pg_catalog.array_agg(someone) FILTER (WHERE lone = 0) AS others, sum(first)::bigint AS first, sum(mark) AS mark
    FROM (
        SELECT
            {% for q in columns %}{{ q.alias }}, {% endfor %}
            n, (row_types = 1)::integer AS lone, (place = 1)::integer AS first,
            pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) AS someone,
            {% include "counting/pair_mark" %} AS mark
        FROM (
            SELECT held.*, count(*) OVER (PARTITION BY held.person) AS row_types,
                pg_catalog.row_number() OVER (PARTITION BY held.person) AS place
            FROM (
                SELECT {% for q in columns %}{{ q.alias }}, {% endfor %}person, count(*) AS n
                FROM (
                    SELECT
                        {% for q in columns %}{{ q.expression }} AS {{ q.alias }}, {% endfor %}
                        {{ entity.expression }} AS person
                    FROM {{ relation }}
                ) AS base
                GROUP BY {% for q in columns %}{{ q.alias }}, {% endfor %}person
            ) AS held
        ) AS pairs
    ) AS counted
    GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %}
),
totals AS MATERIALIZED (
    SELECT count(*) AS types, coalesce(sum(n), 0)::bigint AS n, coalesce(sum(first), 0)::bigint AS people,
        coalesce(sum(mark), 0)::text AS fingerprint,
        count(*) * {{ type_bytes }} + coalesce(sum(people), 0)::bigint * {{ pair_bytes }} AS bytes
    FROM types
)
SELECT
    {% include "counting/totals" %},
    totals.people, totals.fingerprint, packed.*, paired.*
FROM totals
CROSS JOIN (
    {% include "counting/packed_types" %}
) AS packed
CROSS JOIN (
    SELECT coalesce(pg_catalog.string_agg(pg_catalog.int8send(types.key), ''), '') AS pair_keys,
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(somebody.person), ''), '') AS pair_people
    FROM (
        SELECT types.lone, types.others, {% include "counting/type_key" %} AS key
        FROM types WHERE (SELECT t.bytes FROM totals AS t) <= {{ most_bytes }}
        OFFSET 0
    ) AS types
    CROSS JOIN LATERAL (
        SELECT other.person FROM pg_catalog.unnest(types.others) AS other (person)
        UNION ALL
        SELECT pg_catalog.hash_record_extended(ROW(types.key, alone.number), 1)
        FROM pg_catalog.generate_series(1, types.lone) AS alone (number)
    ) AS somebody
) AS paired

-- name: distributed/create_chances(): Where the rows of divided row types stand among those of their types, collected from all
-- nodes: two numbers for each.
CREATE TABLE {{ chances }} AS
SELECT divided.row_type, {% include "distributed/chance" %} AS chance
FROM (
    {% include "distributed/base_rows" %}
) AS base
INNER JOIN (SELECT row_type, min(seed) AS seed FROM {{ parts }} GROUP BY row_type) AS divided
    ON divided.row_type = {% include "guard/row_type" %}

-- name: distributed/create_reader(): The only way to what is stored on the nodes: Citus reads there with the rights of whoever
-- asks, which inside this function is the owner. Nobody else may name it, because nobody may use its schema; the view of the
-- release does. The shards of a table hold people by the hash of who they are, so rows are not shown in the order in which shards
-- answer; nor is what Citus tells of its work (citus.log_remote_commands, messages for debugging). The default of its argument,
-- which nobody uses, makes it, and so the view, depend on the columns that are published, as the view of a single server does;
-- were they named in the view, Citus would take the function for one of the table, and create it on all nodes when the table is
-- altered.
CREATE FUNCTION {{ reader }}(
    base boolean DEFAULT ROW({% for c in read %}(NULL::{{ base }}).{{ c }}{% if not loop.last %}, {% endif %}{% endfor %}) IS NULL
) RETURNS TABLE (
    {% for c in stored %}{{ c.output }} {{ c.type }}, {% endfor %}
    kanon_pattern bigint
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning
AS {{ body }}

-- name: distributed/create_rules(): What the nodes need to suppress: the pattern of each row type, for divided ones the range of
-- chance of each part.
CREATE TABLE {{ rules }} AS
{% if parts %}
SELECT m.row_type, NULL::bigint AS seed, NULL::bigint AS first_chance, NULL::bigint AS last_chance, m.pattern
FROM {{ mapping }} AS m WHERE NOT EXISTS (SELECT FROM {{ parts }} AS p WHERE p.row_type = m.row_type)
UNION ALL
SELECT p.row_type, p.seed, CASE WHEN p.first_row = 1 THEN -9223372036854775808 ELSE c.chance END,
    coalesce(pg_catalog.lead(c.chance) OVER (PARTITION BY p.row_type ORDER BY p.first_row) - 1, 9223372036854775807), p.pattern
FROM {{ parts }} AS p
INNER JOIN (
    SELECT row_type, chance, pg_catalog.row_number() OVER (PARTITION BY row_type ORDER BY chance) AS place FROM {{ chances }}
) AS c ON c.row_type = p.row_type AND c.place = p.first_row
{% else %}
SELECT row_type, pattern FROM {{ mapping }}
{% endif %}

-- name: distributed/create_shards(): The table behind a release whose rows are on all nodes, empty; Citus distributes it next.
CREATE TABLE {{ storage }} AS
{% include "distributed/masked_rows" %}
WITH NO DATA

-- name: distributed/distribute(text, integer): Distributes a table over a number of shards of its own.
SELECT pg_catalog.create_distributed_table(
    $1::text::regclass, 'kanon_place', colocate_with => 'none', shard_count => $2::integer
)::text AS done

-- name: distributed/distribute_by(text, text): Distributes a table by a column.
SELECT pg_catalog.create_distributed_table($1::text::regclass, $2::text)::text AS done

-- name: distributed/distribute_like(text, text): Distributes a table so that its rows are where those of another table are that
-- have the same value.
SELECT pg_catalog.create_distributed_table($1::text::regclass, 'kanon_place', colocate_with => $2::text)::text AS done

-- name: distributed/distribution(text): The column by whose hash Citus distributes the rows of a relation, and over how many
-- shards; no row if it does not.
SELECT pg_catalog.column_to_column_name(p.logicalrelid, p.partkey) AS column,
    (SELECT count(*) FROM pg_catalog.pg_dist_shard AS s WHERE s.logicalrelid = p.logicalrelid) AS shards
FROM pg_catalog.pg_dist_partition AS p WHERE p.logicalrelid = pg_catalog.to_regclass($1) AND p.partmethod = 'h'

-- name: distributed/drop_reader(): Drops the function through which the view of a release reads.
DROP FUNCTION IF EXISTS {{ reader }}

-- name: distributed/drop_role_elsewhere(): Drops a role on the workers of Citus, where no database uses it, but not on the
-- coordinator, where one does. What Citus drops on workers it drops by name, so here another role has the name meanwhile. Until
-- the transaction ends nobody sees that.
DO $elsewhere$
DECLARE
    ours CONSTANT oid := (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = {{ label }});
BEGIN
    -- Citus never brought it to the workers
    IF NOT EXISTS (
        SELECT FROM pg_catalog.pg_dist_object AS o WHERE o.classid = 'pg_catalog.pg_authid'::regclass AND o.objid = ours
    ) THEN
        RETURN;
    END IF;
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true);
    ALTER ROLE {{ role }} RENAME TO kanon_role_here;
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'on', true);
    CREATE ROLE {{ role }};
    DROP ROLE {{ role }};
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true);
    ALTER ROLE kanon_role_here RENAME TO {{ role }};
    IF {{ label }} ~ '^kanon_(owner|base_[0-9]+)$' THEN
        ALTER ROLE {{ role }} NOLOGIN;
    END IF;
    PERFORM pg_catalog.citus_unmark_object_distributed('pg_catalog.pg_authid'::regclass, ours, 0, false);
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'on', true);
END
$elsewhere$

-- name: distributed/fill_shards(text): Stores the release: each node what it has of the base table, without a row that passes the
-- coordinator. So the rows are ordered in a subquery, by each node: Citus would bring those of a statement that orders them to
-- one place.
INSERT INTO {{ storage }}
SELECT stored.* FROM (
{% include "distributed/masked_rows" %}
) AS stored

-- name: distributed/holds_shards(): Whether the coordinator of Citus holds shards itself.
SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_node AS n WHERE n.groupid = 0 AND n.shouldhaveshards) AS holds_shards

-- name: distributed/is_columnar(bigint): Whether a relation, a partition of it, or a table that a view reads is stored by columns.
WITH RECURSIVE read (oid) AS (
    SELECT $1::bigint::oid
    UNION
    SELECT below.oid FROM read
    CROSS JOIN LATERAL (
        SELECT d.refobjid FROM pg_catalog.pg_class AS c
        INNER JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = c.oid
        INNER JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
        WHERE c.oid = read.oid AND c.relkind = 'v' AND d.refclassid = 'pg_catalog.pg_class'::regclass
        UNION ALL
        SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = read.oid
    ) AS below (oid)
)
SELECT EXISTS (
    SELECT FROM read
    INNER JOIN pg_catalog.pg_class AS c ON c.oid = read.oid
    INNER JOIN pg_catalog.pg_am AS a ON a.oid = c.relam
    WHERE a.amname = 'columnar'
) AS is_columnar

-- name: distributed/is_worker(): Whether this is a worker of Citus rather than its coordinator.
SELECT NOT pg_catalog.citus_is_coordinator() AS is_worker

-- name: distributed/masked_rows(): What is stored of each row, as the guarded materialized view would show it. The order is
-- chance by a secret seed, because Citus lets no node draw numbers while it stores.
SELECT
{% if by_person %}
    coalesce(
        pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0),
        pg_catalog.hashtextextended(pg_catalog.md5({{ seed }} || counted.kanon_at), 1)
    ) AS kanon_place,
{% else %}
    counted.kanon_place AS kanon_place,
{% endif %}
    {% for p in published %}{{ p.stored }} AS {{ p.output }}, {% endfor %}
{% if entity %}
    CASE WHEN counted.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) END
        AS kanon_person,
{% endif %}
    counted.pattern AS kanon_pattern,
    pg_catalog.hashtextextended(pg_catalog.md5({{ seed }} || counted.kanon_at), 0) AS kanon_chance
FROM (
    SELECT
{% for q in columns %}
        CASE WHEN assigned.pattern & {{ q.bit }} = 0 THEN assigned.{{ q.alias }} ELSE {{ q.suppressed }} END AS {{ q.alias }},
{% endfor %}
        {% for c in carried %}assigned.{{ c.alias }}, {% endfor %}
        {% if entity %}assigned.person,{% endif %}
        assigned.kanon_place, assigned.kanon_at, assigned.pattern
    FROM (
        SELECT base.*, coalesce(rules.pattern, {{ all_suppressed }}) AS pattern FROM (
    {% include "distributed/base_rows" %}
        ) AS base
        LEFT JOIN {{ rules }} AS rules
            ON rules.row_type = {% include "guard/row_type" %}
{% if parts %}
            AND (rules.seed IS NULL OR ({% include "distributed/chance" %}) BETWEEN rules.first_chance AND rules.last_chance)
{% endif %}
    ) AS assigned
) AS counted
ORDER BY kanon_chance

-- name: distributed/open_reader(): Lets the view of a release run it for its readers, whoever they are.
GRANT EXECUTE ON FUNCTION {{ reader }} TO PUBLIC

-- name: distributed/owner_reads(bigint): Whether the current role is kanon_owner and reads a table itself, on the nodes, because
-- these can store releases of it. Citus lets no transaction create shards beside others that it read as another role.
SELECT CURRENT_USER = 'kanon_owner'
    AND pg_catalog.has_table_privilege($1::bigint::oid, 'SELECT') AND kanon.nodes_store($1::bigint::oid::regclass) AS owner_reads

-- name: distributed/read_all_shards(): Reads a row of each shard at most: whether the current role may, on all nodes that have one.
SELECT count(*) AS shards FROM (SELECT 1 AS one FROM {{ relation }} LIMIT 1) AS one

-- name: distributed/read_shards(): What the view of a release reads.
(
    SELECT
{% for c in stored %}
        r.{{ c.output }}{% if c.collation %} COLLATE {{ c.collation }} AS {{ c.output }}{% endif %},
{% endfor %}
        r.kanon_pattern
    FROM {{ reader }}() AS r
) AS stored

-- name: distributed/reader_body(): What the reader of a release on the nodes of Citus returns.
SELECT {% for c in stored %}s.{{ c.output }}, {% endfor %}s.kanon_pattern FROM {{ storage }} AS s ORDER BY s.kanon_chance

-- name: distributed/readers(): The readers that this database has.
SELECT pg_catalog.substring(p.proname, '[0-9]+$')::integer AS reader
FROM pg_catalog.pg_proc AS p
WHERE p.pronamespace = 'kanon'::regnamespace AND p.proname ~ '^define_[0-9]+$'
ORDER BY 1

-- name: distributed/reads_tables(bigint): Whether a relation is a table of Citus, distributed or not, or a view that reads one.
WITH RECURSIVE read (oid) AS (
    SELECT $1::bigint::oid
    UNION
    SELECT d.refobjid FROM read
    JOIN pg_catalog.pg_class AS c ON c.oid = read.oid AND c.relkind = 'v'
    JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = c.oid
    JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
    WHERE d.refclassid = 'pg_catalog.pg_class'::regclass
)
SELECT EXISTS (SELECT FROM read JOIN pg_catalog.pg_dist_partition AS p ON p.logicalrelid = read.oid) AS reads

-- name: distributed/remove_small(): Removes the rows of small classes from what was stored, each node its own.
DELETE FROM {{ storage }} AS s USING {{ small }} AS small WHERE small.class = {% include "distributed/class_hash" %}

-- name: distributed/schema_state(): Whether a node has the schema of what is stored on all nodes, and nobody but the owner role
-- may use it there.
SELECT CASE
        WHEN count(*) = 0 THEN 'missing'
        WHEN pg_catalog.bool_and(
            pg_catalog.pg_get_userbyid(n.nspowner) = 'kanon_owner'
            AND NOT EXISTS (SELECT FROM pg_catalog.aclexplode(n.nspacl) AS a WHERE a.grantee <> n.nspowner)
        ) THEN 'closed'
        ELSE 'open'
    END
FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'kanon_shards'
