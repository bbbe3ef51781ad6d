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

-- name: linked/nullable(bigint, text[]): Columns of a table that may be NULL.
SELECT a.attname::text AS column FROM pg_catalog.pg_attribute AS a
WHERE a.attrelid = $1::bigint::oid AND a.attname = ANY ($2::text[]::name[]) AND NOT a.attnotnull ORDER BY a.attnum

-- name: linked/typed(): The rows of a table with what tells them apart, and what they refer to. A row without a key is none: its
-- columns were NOT NULL when it was published.
(
    SELECT {{ key }} AS kanon_key, {% if up %}{{ up }} AS kanon_up, {% endif %}{{ order }} AS kanon_order
        {% for c in columns %}, {{ c.value }} AS {{ c.alias }} {% endfor %}
    FROM {{ relation }}
    {% if has_key %}WHERE ({{ key }}) IS NOT NULL{% endif %}

)

-- name: linked/numbers(): How many rows the rows of a table above have here, and as a text also how many of those that hang on them
-- each of these has.
(
{% if children %}
    SELECT t.kanon_up, count(*) AS n,
        count(*)::text || ' (' || pg_catalog.string_agg({{ each }} COLLATE "C", {{ between }} ORDER BY {{ each }} COLLATE "C") || ')' AS numbers
    FROM {{ typed }} AS t
    {% for c in children %}LEFT JOIN {{ c.numbers }} AS {{ c.alias }} ON {{ c.alias }}.kanon_up = t.kanon_key {% endfor %}
    GROUP BY t.kanon_up
{% else %}
    SELECT c.kanon_up, c.n, c.n::text{% if most %} || CASE WHEN c.n = {{ most }} THEN ' or more' ELSE '' END{% endif %} AS numbers
    FROM (
        SELECT t.kanon_up, {% if most %}least(count(*), {{ most }}){% else %}count(*){% endif %} AS n FROM {{ typed }} AS t GROUP BY t.kanon_up
    ) AS c
{% endif %}
)

-- name: linked/rows_there(): How many rows hang on which one of a table above; no two lists of such texts are the same text.
pg_catalog.length({{ key }}::text)::text || ':' || {{ key }}::text || ' ' || {{ n }}::text || ' '

-- name: linked/counted(): How many rows of a table hang on each row of the table above.
(SELECT t.kanon_up, count(*) AS siblings FROM {{ typed }} AS t GROUP BY t.kanon_up)

-- name: linked/rows(): The rows of a table, or their numbers, with the keys of all that they hang on.
(
    SELECT {% if counted %}a0.siblings{% else %}a0.kanon_key, a0.kanon_order{% endif %} {% for a in above %}, {{ a.alias }}.kanon_up AS {{ a.name }}{% endfor %}
        {% for c in columns %}, a0.{{ c }} {% endfor %}
    FROM {{ typed }} AS a0
    {% for s in steps %}INNER JOIN {{ s.typed }} AS {{ s.alias }} ON {{ s.alias }}.kanon_key = {{ s.below }}.kanon_up {% endfor %}
)

-- name: linked/suppressed_rows(): Rows of a view in which a privacy model suppresses a column.
SELECT count(*) AS rows FROM {{ view }} AS c WHERE pg_catalog.cardinality(c.kanon_suppressed) > 0

-- name: linked/several(): How many people have several values in columns of a linked table.
SELECT {% for f in figures %}count(*) FILTER (WHERE {{ f.alias }}) AS {{ f.alias }}{% if not loop.last %}, {% endif %}{% endfor %}
FROM (
    SELECT {% for f in figures %}{{ f.value }} AS {{ f.alias }}{% if not loop.last %}, {% endif %}{% endfor %}
    FROM {{ rows }} AS t WHERE t.{{ person }} IS NOT NULL GROUP BY t.{{ person }}
) AS person

-- name: linked/people(): The people of a release of linked tables: columns of the person table, pseudonyms to be made of its key,
-- and what others could know of a person's rows elsewhere.
SELECT {% for c in columns %}t.{{ c }}, {% endfor %}
    {% for c in keys %}t.kanon_key AS {{ c }}{% if not loop.last %}, {% endif %}{% endfor %}
    {% for f in numbers %}
    , CASE
        WHEN pg_catalog.length({{ f.numbers_published }}) > {{ f.longest }}
            THEN {{ f.alias }}.n::text || ' ('
                || pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to({{ f.numbers_published }}, 'UTF8')), 'hex') || ')'
        ELSE coalesce({{ f.numbers_published }}, '0')
    END AS {{ f.name }}
    {% for t in f.there %}, {{ t.state }} AS {{ t.name }} {% endfor %}
    {% endfor %}
    {% for g in column_figures %}{% for f in g.figures %}, {{ g.alias }}.{{ f.name }} {% endfor %}{% endfor %}
FROM {{ typed }} AS t
{% for f in numbers %}{% for t in f.there %}{% if t.rows %}
LEFT JOIN (
    SELECT d.{{ t.person_key }} AS kanon_up, {{ t.now }} AS there
    FROM {{ t.rows }} AS d
    GROUP BY d.{{ t.person_key }}
) AS {{ t.alias }} ON {{ t.alias }}.kanon_up = t.kanon_key
{% endif %}{% endfor %}{% endfor %}
{% for f in numbers %}LEFT JOIN {{ f.numbers }} AS {{ f.alias }} ON {{ f.alias }}.kanon_up = t.kanon_key {% endfor %}
{% for g in column_figures %}
LEFT JOIN (
    SELECT t.{{ g.person }} AS kanon_up {% for f in g.figures %}, {{ f.value }} AS {{ f.name }}{% endfor %}
    FROM {{ g.rows }} AS t GROUP BY t.{{ g.person }}
) AS {{ g.alias }} ON {{ g.alias }}.kanon_up = t.kanon_key
{% endfor %}

-- name: linked/different_numbers(): The different numbers of rows that people have, and how many people have them.
SELECT t.numbers, count(*) AS people FROM {{ numbers }} AS t GROUP BY t.numbers

-- name: pseudonym(): What stands for a text in a release, see kanon_pg.release.plan.pseudonyms.
pg_catalog.encode(pg_catalog.substring(pg_catalog.sha256((SELECT s.value FROM kanon.secret AS s WHERE s.name = {{ secret }})
    || pg_catalog.convert_to({{ domain }} || E'\n' || {{ text }}, 'UTF8')), 1, 16), 'hex')::uuid

-- name: make_secret(text): Makes a secret of 32 bytes from three strong random numbers, unless there is one of this name.
INSERT INTO kanon.secret (name, value)
VALUES ($1::text, pg_catalog.sha256(
    pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
    || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
))
ON CONFLICT (name) DO NOTHING

-- name: forget_secret(text): Removes a secret, and with it every way from a pseudonym to its key.
DELETE FROM kanon.secret WHERE name = $1::text

-- name: linked/create_rows(): The rows of a linked table that are shown: of published people, as many of each as the person's
-- class says. A class shows none in which other numbers of them hang on somebody's rows than when the person table was stored, nor
-- one in which a row that they hang on is not stored as it is, or a further foreign key leads elsewhere than the links. Of a class that violates a privacy model in a sensitive
-- column, the column is not shown.
CREATE MATERIALIZED VIEW {{ storage }} AS
WITH people AS MATERIALIZED (
    SELECT p.{{ person }} AS person, p.kanon_class AS class, p.kanon_stamp AS stamp
        {% if there %}, p.{{ there }} AS there, {{ level }} AS level{% endif %}
    FROM {{ people }} AS p
),
source AS MATERIALIZED (SELECT s.* FROM {{ source }}() AS s),
-- rows of one parent share their pseudonyms
parents AS MATERIALIZED (
    SELECT d.* {% for a in above %}, {{ a.value }} AS {{ a.name }} {% endfor %}
    FROM (
        SELECT {% for a in above %}s.{{ a.key }}, {% endfor %}count(*) AS siblings, pg_catalog.bool_and({{ agrees }}) AS agrees
        FROM source AS s GROUP BY {% for a in above %}s.{{ a.key }}{% if not loop.last %}, {% endif %}{% endfor %}
    ) AS d
),
{% if there %}
whole AS MATERIALIZED (
    SELECT p.class FROM people AS p
    LEFT JOIN (
        SELECT d.{{ person_key }} AS person, {{ now_there }} AS there,
            pg_catalog.bool_and(d.agrees{% if parent_storage %} AND q.kanon_row IS NOT NULL{% endif %}) AS agrees
        FROM parents AS d
        {% if parent_storage %}LEFT JOIN {{ parent_storage }} AS q ON q.kanon_row = d.{{ parent_key }} AND q.kanon_up = d.{{ above[1].name }} AND q.kanon_person = d.{{ person_key }} {% endif %}
        GROUP BY d.{{ person_key }}
    ) AS now_ ON now_.person = p.person
    GROUP BY p.class HAVING pg_catalog.bool_and(p.there = coalesce(now_.there, {{ nothing_there }}) AND coalesce(now_.agrees, true))
),
{% endif %}
shown AS MATERIALIZED (
    SELECT d.*, p.class, {% if parent_storage %}q.kanon_stamp{% else %}p.stamp{% endif %} AS seen
        {% if there %}, {{ shown }} AS most {% endif %}
    FROM parents AS d
    INNER JOIN people AS p ON p.person = d.{{ person_key }}
    {% if parent_storage %}INNER JOIN {{ parent_storage }} AS q ON q.kanon_row = d.{{ parent_key }} AND q.kanon_person = d.{{ person_key }} {% endif %}
    {% if there %}INNER JOIN whole AS w ON w.class = p.class {% endif %}
),
-- pseudonyms and hashes with a secret seed: chance to readers, and the order the rows are in
placed AS (
    SELECT s.*, d.class, d.seen, {% for a in above %}d.{{ a.name }}, {% endfor %}
        {% if has_key %}{{ row_key }} AS row_key, {% endif %}
        {% if there %}d.most, pg_catalog.row_number() OVER (PARTITION BY d.{{ parent_key }} ORDER BY {{ place_key }}) AS place
        {% else %}{{ place_key }} AS place {% endif %}
    FROM source AS s
    INNER JOIN shown AS d ON {% for a in above %}d.{{ a.key }} = s.{{ a.key }}{% if not loop.last %} AND {% endif %}{% endfor %}
    {% if there %}WHERE d.most > 0 {% endif %}
),
{% if model_checks %}
sizes AS (
    SELECT r.class, count(*) AS size, count(DISTINCT r.{{ person_key }}) AS people
    FROM placed AS r {% if there %}WHERE r.place <= r.most {% endif %}
    GROUP BY r.class
),
counted AS MATERIALIZED (
    SELECT r.*, r.{{ person_key }} AS person, s.size, s.people
    FROM placed AS r INNER JOIN sizes AS s ON s.class = r.class {% if there %}WHERE r.place <= r.most {% endif %}
),
{% for j in model_checks %}
{% include "guard/model_checks" %}
{% endfor %}
{% endif %}
chosen AS (
    SELECT r.*
        {% for c in constrained %}, {% for one in c.satisfying %}r.class IN (SELECT s.class FROM {{ one }} AS s){% if not loop.last %} AND {% endif %}{% endfor %} AS {{ c.holds }} {% endfor %}
    FROM {% if model_checks %}counted{% else %}placed{% endif %} AS r {% if there %}WHERE r.place <= r.most {% endif %}
)
SELECT {% for c in columns %}{{ c.value }} AS {{ c.name }}, {% endfor %}
    {% if constrained %}
    pg_catalog.array_remove(ARRAY[{% for c in constrained %}CASE WHEN NOT r.{{ c.holds }} THEN {{ c.label }}::name END{% if not loop.last %}, {% endif %}{% endfor %}], NULL)
        AS kanon_suppressed,
    {% endif %}
    {% if has_key %}r.row_key AS kanon_row, r.{{ parent_key }} AS kanon_up, r.{{ person_key }} AS kanon_person, {% endif %}
    (SELECT pg_catalog.gen_random_uuid()) AS kanon_stamp, r.seen AS kanon_seen
FROM chosen AS r
ORDER BY r.{{ parent_key }}, r.place

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

-- name: linked/unique(): Lets no refresh show a row that others refer to twice, as two people of a class or rows of two. Of an expression,
-- because one of columns would allow to refresh concurrently, which shows what has changed.
CREATE UNIQUE INDEX ON {{ storage }} (pg_catalog.uuid_send({{ key }})) NULLS NOT DISTINCT

-- name: linked/with_classes(): The rows of a view with the class of their people, whose column is not suppressed.
(
    SELECT v0.{{ column }}, p.kanon_class AS class, p.{{ person }} AS person
    FROM {{ view }} AS v0
    {% for step in steps %}
    INNER JOIN {{ step.view }} AS {{ step.alias }} ON {% for pair in step.pairs %}{{ step.alias }}.{{ pair.key }} = {{ step.below }}.{{ pair.own }}{% if not loop.last %} AND {% endif %}{% endfor %}
    {% endfor %}
    WHERE NOT {{ label }}::name = ANY (v0.kanon_suppressed)
)

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
    t.numbers_known,
    pg_catalog.to_regclass(pg_catalog.format('safe.%I', t.name)) IS NOT NULL AS is_shown,
    EXISTS (
        SELECT FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = pg_catalog.to_regclass(pg_catalog.format('safe.%I', t.name)) AND a.attname = 'kanon_suppressed'
    ) AS has_models
FROM kanon.release_table AS t WHERE t.release = $1::text ORDER BY t.place

-- name: linked/forget(text): Removes what is recorded of the further tables of a release.
DELETE FROM kanon.release_table WHERE release = $1::text

-- name: linked/seed(): A number that nobody knows without the secret.
(SELECT pg_catalog.hashtextextended(pg_catalog.encode(s.value, 'hex') COLLATE "C", 0) FROM kanon.secret AS s WHERE s.name = {{ secret }})

-- name: linked/disagreeing(): Rows whose foreign key leads elsewhere than their links.
SELECT count(*) AS rows FROM {{ rows }} AS t WHERE t.own IS DISTINCT FROM t.{{ same }}

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
