-- name: drop_table(): Drops a table that kanon_pg made.
DROP TABLE IF EXISTS {{ table }}

-- name: drop_view(): Drops a view that kanon_pg made.
DROP VIEW IF EXISTS {{ view }}

-- name: create_storage(): The guarded materialized view: suppresses by the mapping, counts the people of every class on the
-- published cells themselves, and withholds classes with fewer than k, and those that violate a privacy model. With subsets it counts
-- the people of every combination of some columns in their place. Row types that the mapping does not know (rows added since) are suppressed fully.
CREATE MATERIALIZED VIEW {{ storage }} AS
WITH {% if subsets %}RECURSIVE{% endif %} {% include "guard/base" %}
{% include "guard/assigned" %}
{% include "guard/masked" %}
{% if subsets %}
{% include "guard/subsets" %}
{% elif entity %}
-- A sort by class and person would compare every cell of every row with that of its neighbour, so both are hashed.
-- Classes are compared cell by cell; two with the same hash have no people, because theirs would be counted together.
-- Two people with the same hash count as one.
hashed AS MATERIALIZED (
    SELECT
        pg_catalog.hash_record_extended(
            ROW({% for q in columns %}{{ q.masked_hash }}, {% endfor %}masked.pattern), 0
        ) AS class_hash,
        CASE WHEN masked.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.masked_hash }}), 0) END AS who,
        masked.*
    FROM masked
),
alike AS MATERIALIZED (
    SELECT class_hash, count(*) AS classes, {% if model_checks %}sum(n)::bigint AS size{% else %}min(remainders) AS remainders{% endif %}
    FROM (
        SELECT class_hash,
{% if model_checks %}
            count(*) AS n
{% else %}
            coalesce(pg_catalog.bit_count(pg_catalog.bit_or(1::bigint << (who & 63)::integer)::bit(64)), 0) AS remainders
{% endif %}
        FROM hashed GROUP BY class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %}
    ) AS class
    GROUP BY class_hash
),
classes AS MATERIALIZED (
{% if not model_checks %}
    -- People whose hashes leave k remainders modulo 64 are k people at least. Only where they leave fewer has each
    -- person to be told from the others.
    SELECT class_hash, remainders AS people FROM alike WHERE classes = 1 AND remainders >= {{ k }}
    UNION ALL
{% endif %}
    SELECT alike.class_hash,
        {% if model_checks %}alike.size,{% endif %}
        CASE WHEN alike.classes = 1 THEN met.people ELSE 0 END AS people
    FROM alike
    INNER JOIN (
        SELECT class_hash, count(who) AS people
        FROM (
            SELECT class_hash, who FROM hashed
{% if not model_checks %}
            WHERE class_hash IN (SELECT a.class_hash FROM alike AS a WHERE a.remainders < {{ k }})
{% endif %}
            GROUP BY class_hash, who
        ) AS pair
        GROUP BY class_hash
    ) AS met ON met.class_hash = alike.class_hash
),
counted AS (
    SELECT hashed.*,
        {% if model_checks %}classes.class_hash AS class, classes.size,{% endif %}
        classes.people,
        {% if source %}hashed.ordinality{% else %}pg_catalog.row_number() OVER (){% endif %} AS place
    FROM hashed INNER JOIN classes ON classes.class_hash = hashed.class_hash
){% if model_checks %},{% endif %}
{% else %}
-- The hash sorts quickly; classes are compared cell by cell.
hashed AS (
    SELECT
        pg_catalog.hash_record_extended(
            ROW({% for q in columns %}{{ q.masked_hash }}, {% endfor %}masked.pattern), 0
        ) AS class_hash,
        {% if model_checks or has_tables %}pg_catalog.row_number() OVER () AS row_number,{% endif %}
        masked.*
    FROM masked
    OFFSET 0
),
counted AS (
    SELECT
        {% if model_checks or has_tables %}count(*) OVER same_class AS size, min(row_number) OVER same_class AS class,{% endif %}
        hashed.*, count(*) OVER same_class AS people, pg_catalog.row_number() OVER same_class AS place
    FROM hashed
    WINDOW same_class AS (PARTITION BY class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %})
){% if model_checks %},{% endif %}
{% endif %}
{% for j in model_checks %}
{% include "guard/model_checks" %}
{% endfor %}
{% if model_checks %}
satisfied AS (
    {% for j in model_checks %}SELECT class FROM {{ j.satisfying }} {% if not loop.last %}INTERSECT{% endif %} {% endfor %}
)
{% endif %}
SELECT
    {% for p in published %}{{ p.stored }} AS {{ p.output }}, {% endfor %}
    {% if entity %}counted.who AS kanon_person,{% endif %}
    counted.pattern AS kanon_pattern
FROM counted
WHERE {% if subsets %}counted.class_hash IN (SELECT kept.class_hash FROM kept){% else %}counted.people >= {{ k }}{% endif %}

    {% if model_checks %}AND counted.class IN (SELECT s.class FROM satisfied AS s){% endif %}
ORDER BY {% include "guard/shuffled" %}

-- name: create_mapping(): The table that says which columns to suppress for which row type, and what proves the lower bound: the
-- price of each of its rows in millionths of a cost unit, NULL if the bound has another proof.
CREATE TABLE {{ mapping }} (row_type bigint NOT NULL, pattern bigint NOT NULL, price bigint)

-- name: index_mapping(): One pattern per row type: without this a row could be counted twice.
ALTER TABLE {{ mapping }} ADD PRIMARY KEY (row_type)

-- name: create_parts(): The table that says which pattern the rows of divided row types have: those numbered first_row and above,
-- up to the next part of the row type. The secret seed settles the numbers, so that a refresh does not draw anew.
CREATE TABLE {{ parts }} (
    row_type bigint NOT NULL, first_row bigint NOT NULL CHECK (first_row >= 1), pattern bigint NOT NULL, seed bigint NOT NULL,
    PRIMARY KEY (row_type, first_row)
)

-- name: refresh_storage(): Brings a release up to date; the view's own definition withholds classes below k.
REFRESH MATERIALIZED VIEW {{ storage }}

-- name: rename_storage(): Gives the materialized view behind a release the name that every publication's has.
ALTER MATERIALIZED VIEW {{ storage }} RENAME TO {{ name }}

-- name: find_storage(text): Whether a materialized view of this name is in schema kanon.
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class AS c
    WHERE c.relname = $1::text::name AND c.relnamespace = 'kanon'::regnamespace AND c.relkind = 'm'
) AS exists

-- name: drop_storage(): Drops the materialized view behind a release.
DROP MATERIALIZED VIEW IF EXISTS {{ storage }}
