-- name: linked/key_columns(bigint): The columns of a table's primary key, or else of a unique one that is never NULL, in the order of
-- their names.
SELECT pg_catalog.array_agg(a.attname::text ORDER BY a.attname) AS columns
FROM pg_catalog.pg_index AS i
INNER JOIN pg_catalog.pg_attribute AS a
    ON a.attrelid = i.indrelid AND a.attnum = ANY (pg_catalog.string_to_array(i.indkey::text, ' ')::smallint[])
WHERE i.indrelid = $1::bigint::oid AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
    AND i.indnkeyatts = i.indnatts
GROUP BY i.indexrelid, i.indisprimary HAVING pg_catalog.bool_and(a.attnotnull)
ORDER BY i.indisprimary DESC, count(*), i.indexrelid LIMIT 1

-- name: linked/typed(): The rows of a table with what tells them apart, and what they refer to, as texts.
(
    SELECT {{ key }} AS kanon_key, {% if up %}{{ up }} AS kanon_up, {% endif %}{{ order }} AS kanon_order
        {% for c in columns %}, {{ c.value }} AS {{ c.alias }} {% endfor %}
    FROM {{ relation }}
)

-- name: linked/numbers(): How many rows the rows of a table above have here, and how many of those that hang on them have each: as
-- they are, and by two grids, of which the second is the coarser. What is longer than a line is told apart by a digest.
(
    SELECT kanon_up, n, {% if children %}state{% else %}n AS state{% endif %}
        {% for g in grids %}, {{ g.shape }} AS {{ g.name }}, {{ g.own }} AS {{ g.rows }}, {{ g.kept }} AS {{ g.below }} {% endfor %}
    FROM (
{% if children %}
        SELECT r.kanon_up, count(*) AS n,
            -- which rows have which numbers: tables that were stored at different moments must fit together
            pg_catalog.hashtextextended(pg_catalog.string_agg(r.state, '; ' ORDER BY r.state COLLATE "C") COLLATE "C", 0) AS state
            {% for g in grids %}
            , pg_catalog.string_agg(r.{{ g.name }}, '; ' ORDER BY r.{{ g.name }} COLLATE "C") AS {{ g.name }}
            , sum(r.{{ g.below }})::bigint AS {{ g.below }}
            {% endfor %}
        FROM (
            SELECT t.kanon_up,
                pg_catalog.concat_ws(' ', t.kanon_key{% for c in children %}, coalesce({{ c.alias }}.state, 0){% endfor %}) AS state
                {% for g in grids %}
                , {% for c in children %}{{ c.label }} || coalesce({{ c.alias }}.{{ g.name }}, '0'){% if not loop.last %} || ', ' || {% endif %}{% endfor %} AS {{ g.name }}
                , {% for c in children %}coalesce({{ c.alias }}.{{ g.rows }}, 0) + coalesce({{ c.alias }}.{{ g.below }}, 0){% if not loop.last %} + {% endif %}{% endfor %} AS {{ g.below }}
                {% endfor %}
            FROM {{ typed }} AS t
            {% for c in children %}LEFT JOIN {{ c.numbers }} AS {{ c.alias }} ON {{ c.alias }}.kanon_up = t.kanon_key {% endfor %}
        ) AS r
        GROUP BY r.kanon_up
{% else %}
        SELECT t.kanon_up, {% if most %}least(count(*), {{ most }}){% else %}count(*){% endif %} AS n FROM {{ typed }} AS t GROUP BY t.kanon_up
{% endif %}
    ) AS counted
)

-- name: linked/rows(): The rows of a table with the keys of all that they hang on.
(
    SELECT a0.kanon_key, a0.kanon_order {% for a in above %}, {{ a.alias }}.kanon_up AS {{ a.name }}{% endfor %}
        {% for c in columns %}, a0.{{ c }} {% endfor %}
    FROM {{ typed }} AS a0
    {% for s in steps %}INNER JOIN {{ s.typed }} AS {{ s.alias }} ON {{ s.alias }}.kanon_key = {{ s.below }}.kanon_up {% endfor %}
)

-- name: linked/several(): How many people have several values in columns of a linked table.
SELECT {% for f in figures %}count(*) FILTER (WHERE {{ f.alias }}) AS {{ f.alias }}{% if not loop.last %}, {% endif %}{% endfor %}
FROM (
    SELECT {% for f in figures %}{{ f.value }} AS {{ f.alias }}{% if not loop.last %}, {% endif %}{% endfor %}
    FROM {{ rows }} AS t GROUP BY t.{{ person }}
) AS person

-- name: linked/people(): The people of a release of linked tables: columns of the person table, pseudonyms to be made of its key,
-- and what others could know of a person's rows elsewhere.
SELECT {% for c in columns %}t.{{ c }}, {% endfor %}
    {% for c in keys %}t.kanon_key AS {{ c }}{% if not loop.last %}, {% endif %}{% endfor %}
    {% for f in numbers %}
    , coalesce({{ f.alias }}.shape_0, '0') AS {{ f.name }}
    , coalesce({{ f.alias }}.state, 0) AS {{ f.there }}
    {% endfor %}
    {% for g in column_figures %}{% for f in g.figures %}, {{ g.alias }}.{{ f.name }} {% endfor %}{% endfor %}
FROM {{ typed }} AS t
{% for f in numbers %}LEFT JOIN {{ f.numbers }} AS {{ f.alias }} ON {{ f.alias }}.kanon_up = t.kanon_key {% endfor %}
{% for g in column_figures %}
LEFT JOIN (
    SELECT t.{{ g.person }} AS kanon_up {% for f in g.figures %}, {{ f.value }} AS {{ f.name }}{% endfor %}
    FROM {{ g.rows }} AS t GROUP BY t.{{ g.person }}
) AS {{ g.alias }} ON {{ g.alias }}.kanon_up = t.kanon_key
{% endfor %}

-- name: linked/different_numbers(): The different numbers of rows that people have, on all grids, and how many people have them.
SELECT shape_0, shape_1, shape_2, below_0, below_1, below_2, count(*) AS people
    {% for o in lines %}, {{ o.value }} AS {{ o.name }}{% endfor %}
FROM {{ numbers }} AS t GROUP BY shape_0, shape_1, shape_2, below_0, below_1, below_2, n

-- name: pseudonym(): What stands for a text in a release, see kanon_pg.release.plan.pseudonyms.
pg_catalog.encode(pg_catalog.substring(pg_catalog.sha256((SELECT s.value FROM kanon.secret AS s WHERE s.name = {{ secret }})
    || pg_catalog.sha256((SELECT s.value FROM kanon.secret AS s WHERE s.name = {{ secret }})
    || pg_catalog.convert_to({{ domain }} || E'\n' || {{ text }}, 'UTF8'))), 1, 16), 'hex')::uuid

-- name: make_secret(text): Makes a secret of 32 bytes from three strong random numbers, unless there is one of this name.
INSERT INTO kanon.secret (name, value)
VALUES ($1::text, pg_catalog.sha256(
    pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
    || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
))
ON CONFLICT (name) DO NOTHING

-- name: forget_secret(text): Removes a secret, and with it every way from a pseudonym to its key.
DELETE FROM kanon.secret WHERE name = $1::text

-- name: linked/figure(): What changes with the numbers of rows of people in a child of the person table, for each who has any.
SELECT t.* FROM {{ numbers }} AS t

-- name: linked/create_rows(): The rows of a linked table that are shown: of published people, as many of each as the person's
-- class says. A class of which somebody has other rows by now than when the person table was stored shows none.
CREATE MATERIALIZED VIEW {{ storage }} AS
WITH people AS MATERIALIZED (
    SELECT p.{{ person }} AS person, p.kanon_class AS class, p.kanon_stamp AS stamp
        {% if figure %}, p.{{ there }} AS there, {{ level }} AS level{% endif %}
    FROM {{ people }} AS p
),
source AS MATERIALIZED (SELECT s.* FROM {{ source }}() AS s),
-- rows of one parent share their pseudonyms
keyed AS MATERIALIZED (
    SELECT {% for a in above %}d.{{ a.key }}, {{ a.value }} AS {{ a.name }}{% if not loop.last %}, {% endif %}{% endfor %}
    FROM (SELECT DISTINCT {% for a in above %}s.{{ a.key }}{% if not loop.last %}, {% endif %}{% endfor %} FROM source AS s) AS d
),
read AS (
    SELECT s.*, {% if has_key %}{{ row_key }} AS row_key, {% endif %}
        {% for a in above %}d.{{ a.name }}{% if not loop.last %}, {% endif %}{% endfor %}
    FROM source AS s INNER JOIN keyed AS d ON {% for a in above %}d.{{ a.key }} = s.{{ a.key }}{% if not loop.last %} AND {% endif %}{% endfor %}
),
{% if figure %}
whole AS MATERIALIZED (
    SELECT p.class FROM people AS p
    LEFT JOIN (SELECT {{ figure_person }} AS person, f.state AS there FROM {{ figure }}() AS f) AS now_ ON now_.person = p.person
    GROUP BY p.class HAVING pg_catalog.bool_and(p.there = coalesce(now_.there, 0))
),
{% endif %}
mixed AS (
    SELECT r.*, pg_catalog.hashtextextended(r.kanon_order::text COLLATE "C", {{ order_seed }}) AS place_key FROM read AS r
),
placed AS (
    SELECT m.*
{% if figure %}
        , count(*) OVER same_parent AS siblings, pg_catalog.row_number() OVER (PARTITION BY m.{{ parent_key }} ORDER BY m.place_key) AS place
    FROM mixed AS m WINDOW same_parent AS (PARTITION BY m.{{ parent_key }})
{% else %}
    FROM mixed AS m
{% endif %}
)
SELECT {% for c in columns %}{{ c.value }} AS {{ c.name }}, {% endfor %}
    {% if has_key %}r.row_key AS kanon_row, {% endif %}
    (SELECT pg_catalog.gen_random_uuid()) AS kanon_stamp, {% if parent_storage %}q.kanon_stamp{% else %}p.stamp{% endif %} AS kanon_seen
FROM placed AS r
INNER JOIN people AS p ON p.person = r.{{ person_key }}
{% if parent_storage %}INNER JOIN {{ parent_storage }} AS q ON q.kanon_row = r.{{ parent_key }} {% endif %}
{% if figure %}
INNER JOIN whole AS w ON w.class = p.class
WHERE r.place <= {{ shown }}
{% endif %}
-- pseudonyms and hashes with a secret seed: chance to readers, and the order the rows are in by now
ORDER BY r.{{ parent_key }}, r.place_key

-- name: linked/create_view(): What analysts read of a linked table: nothing that was stored before what it hangs on was refreshed.
CREATE OR REPLACE VIEW {{ view }} WITH (security_barrier) AS
SELECT {% for c in columns %}c.{{ c }}{% if not loop.last %}, {% endif %}{% endfor %}
FROM {{ storage }} AS c
WHERE c.kanon_seen = (SELECT q.kanon_stamp FROM {{ chain[0] }} AS q LIMIT 1)
{% for one in chain %}
    {% if not loop.last %}
    AND (SELECT q.kanon_seen FROM {{ one }} AS q LIMIT 1) = (SELECT q.kanon_stamp FROM {{ loop.nextitem }} AS q LIMIT 1)
    {% endif %}
{% endfor %}

-- name: linked/dangling(): Rows of a view whose keys lead nowhere.
SELECT count(*) AS rows FROM {{ view }} AS c
WHERE NOT EXISTS (
    SELECT FROM {{ parent }} AS p
    WHERE {% for pair in pairs %}p.{{ pair.key }} = c.{{ pair.own }}{% if not loop.last %} AND {% endif %}{% endfor %}
)

-- name: linked/seen(): What joins of views show of the rows of a parent: their number, and what hangs on each, in order.
(
    SELECT {% for own in up %}t.{{ own }} AS u{{ loop.index }}, {% endfor %}
{% if children %}
        pg_catalog.concat(count(*), '(', pg_catalog.string_agg(t.seen, ';' ORDER BY t.seen COLLATE "C"), ')') AS seen
    FROM (
        SELECT {% for own in up %}v.{{ own }}, {% endfor %}pg_catalog.concat_ws('|'{% for c in children %}, coalesce({{ c.alias }}.seen, '-'){% endfor %}) AS seen
        FROM {{ view }} AS v
        {% for c in children %}LEFT JOIN {{ c.seen }} AS {{ c.alias }} ON {% for name in key %}{{ c.alias }}.u{{ loop.index }} = v.{{ name }}{% if not loop.last %} AND {% endif %}{% endfor %} {% endfor %}
    ) AS t
{% else %}
        count(*)::text AS seen
    FROM {{ view }} AS t
{% endif %}
    GROUP BY {% for own in up %}t.{{ own }}{% if not loop.last %}, {% endif %}{% endfor %}
)

-- name: linked/different(): Classes of people of whom joins show different numbers of rows in some of the tables.
SELECT count(*) AS classes FROM (
    SELECT FROM {{ people }} AS p
    {% for t in tables %}LEFT JOIN {{ t.seen }} AS {{ t.alias }} ON {{ t.alias }}.u1 = p.{{ person }} {% endfor %}
    GROUP BY p.kanon_class
    HAVING count(DISTINCT pg_catalog.concat_ws('|', ''{% for t in tables %}, coalesce({{ t.alias }}.seen, '-'){% endfor %})) > 1
) AS class

-- name: linked/is_taken(text, text): Whether a name in schema safe belongs to something else than a table of this release.
SELECT
    EXISTS (
        SELECT FROM pg_catalog.pg_class AS c
        WHERE c.relname = $2::text::name AND c.relnamespace = 'safe'::regnamespace
            AND NOT EXISTS (SELECT FROM kanon.release_table AS t WHERE t.name = $2::text AND t.release = $1::text)
    ) OR EXISTS (SELECT FROM kanon.release AS r WHERE r.name = $2::text)
    OR EXISTS (SELECT FROM kanon.release_table AS t WHERE t.name = $2::text AND t.release <> $1::text) AS taken

-- name: linked/store(text): Records a further table of a release: an object of columns of kanon.release_table.
INSERT INTO kanon.release_table
SELECT t.* FROM pg_catalog.jsonb_populate_record(NULL::kanon.release_table, $1::text::jsonb) AS t

-- name: linked/count(text, text, bigint, bigint): Records how many rows a table and its view have.
UPDATE kanon.release_table AS t SET base_rows = $3::bigint, rows = $4::bigint WHERE t.release = $1::text AND t.name = $2::text

-- name: linked/tables(text): What is recorded of the further tables of a release, with the names of their relations.
WITH relation (oid, schema, name) AS NOT MATERIALIZED (
    SELECT c.oid, n.nspname::text, c.relname::text
    FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
)
SELECT t.name, t.place, t.base_rows, t.rows, t.key_columns::text[] AS key_columns, t.foreign_keys::text AS foreign_keys,
    (SELECT ARRAY[r.schema, r.name] FROM relation AS r WHERE r.oid = t.relation) AS relation_name,
    (SELECT ARRAY[r.schema, r.name] FROM relation AS r WHERE r.oid = t.storage) AS storage_name,
    (SELECT r.name FROM relation AS r WHERE r.oid = t.source) AS source_name,
    (SELECT r.name FROM relation AS r WHERE r.oid = t.figure) AS figure_name,
    pg_catalog.to_regclass(pg_catalog.format('safe.%I', t.name)) IS NOT NULL AS is_shown
FROM kanon.release_table AS t WHERE t.release = $1::text ORDER BY t.place

-- name: linked/forget(text): Removes what is recorded of the further tables of a release.
DELETE FROM kanon.release_table WHERE release = $1::text

-- name: linked/seed(): A number that nobody knows without the secret.
(SELECT pg_catalog.hashtextextended(pg_catalog.encode(s.value, 'hex') COLLATE "C", 0) FROM kanon.secret AS s WHERE s.name = {{ secret }})

-- name: linked/disagreeing(): A row whose foreign key leads elsewhere than its links.
SELECT 1 AS found FROM {{ rows }} AS t WHERE t.own IS DISTINCT FROM t.{{ same }} LIMIT 1

-- name: linked/strangers(bigint[]): Owners of tables who may not read another one of them: what the tables bring along runs with the
-- rights of a role that may.
SELECT pg_catalog.pg_get_userbyid(c.relowner)::text AS owner, c.oid::bigint AS own, o.oid::bigint AS other
FROM pg_catalog.unnest($1::bigint[]) AS a (oid) INNER JOIN pg_catalog.pg_class AS c ON c.oid = a.oid::oid
CROSS JOIN pg_catalog.unnest($1::bigint[]) AS b (oid) INNER JOIN pg_catalog.pg_class AS o ON o.oid = b.oid::oid
WHERE NOT pg_catalog.has_table_privilege(c.relowner, o.oid, 'SELECT') ORDER BY 1, 2, 3

-- name: linked/owner(bigint): Who owns a table.
SELECT pg_catalog.pg_get_userbyid(c.relowner)::text AS owner FROM pg_catalog.pg_class AS c WHERE c.oid = $1::bigint::oid

-- name: renew_secret(text): Gives a secret another value: nobody finds the pseudonyms of before again.
UPDATE kanon.secret AS s SET value = pg_catalog.sha256(
    pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
    || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
) WHERE s.name = $1::text

-- name: linked/release_of(text): The release that a further table belongs to.
SELECT t.release FROM kanon.release_table AS t WHERE t.name = $1::text
