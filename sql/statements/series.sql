-- name: series/create_arrivals(): The rows that wait now: since when, and with whom each may enter. Who is about to leave, or has
-- a value that a hierarchy does not know, has no origin yet. Who left before enters only with those who left together with them.
CREATE TABLE {{ arrivals }} AS
SELECT g.kanon_row AS row_id, g.kanon_who AS person, coalesce(p.since, {{ version }}) AS since,
    CASE
        WHEN g.kanon_row IN (SELECT m.row_id FROM {{ members }} AS m WHERE m.left_in IS NOT NULL) THEN NULL
        WHEN g.kanon_who IN (
            SELECT m.person FROM {{ members }} AS m WHERE m.left_in IS NOT NULL AND m.person IS NOT NULL
        ) THEN NULL
{% for u in unknown %}
        WHEN g.{{ u.column }} IS NOT NULL AND NOT EXISTS (
            SELECT FROM {{ u.table }} AS {{ u.known }} WHERE {{ u.knows }}
        ) THEN NULL
{% endfor %}
        WHEN d.row_id IS NOT NULL THEN pg_catalog.hash_record_extended(ROW(d.cohort, d.version, d.since), 1)
        WHEN h.person IS NOT NULL THEN h.origin
        ELSE 0
    END AS origin,
    CASE WHEN d.row_id IS NOT NULL THEN 'row' WHEN h.person IS NOT NULL THEN 'person' END AS returns
FROM {{ changes }} AS g
LEFT JOIN {{ pending }} AS p ON p.row_id = g.kanon_row
LEFT JOIN {{ departed }} AS d ON d.row_id = g.kanon_row
LEFT JOIN (
{% include "series/histories" %}
) AS h ON h.person = g.kanon_who
WHERE g.kanon_row IS NOT NULL
    {% if keep %}AND g.kanon_member IS NULL{% else %}AND g.kanon_same IS NOT TRUE{% endif %}

-- name: series/create_changes(): Rows of the base relation that are no members, and members whose row is gone, was changed, or is
-- back.
CREATE TABLE {{ changes }} AS
SELECT c.*, m.row_id AS kanon_member, (c.kanon_fingerprint = m.fingerprint AND NOT m.erased) AS kanon_same
FROM {{ current }}() AS c
FULL JOIN {{ members }} AS m ON m.row_id = c.kanon_row
WHERE m.row_id IS NULL OR c.kanon_row IS NULL OR c.kanon_fingerprint <> m.fingerprint OR m.left_in IS NOT NULL

-- name: series/create_cohorts(): The cohorts of a release over time: rows that entered together in one class, and stay as they are.
CREATE TABLE {{ cohorts }} (
    cohort bigint PRIMARY KEY, entered bigint NOT NULL, rows bigint NOT NULL, people bigint NOT NULL,
    is_shown boolean NOT NULL DEFAULT true
)

-- name: series/create_departed(): Rows that left a release over time. Those of one cohort, version and history since then left
-- together.
CREATE TABLE {{ departed }} (
    row_id bigint PRIMARY KEY, person bigint, cohort bigint NOT NULL, version bigint NOT NULL,
    since bigint[] NOT NULL DEFAULT '{}'
)

-- name: series/create_entering(): The rows that enter a release over time together: all of a first version, or those of one origin.
CREATE TABLE {{ entering }} AS
SELECT {% for c in columns %}c.{{ c }}, {% endfor %}c.kanon_row, c.kanon_fingerprint FROM {{ source }} AS c
{% if pending %}INNER JOIN {{ pending }} AS p ON p.row_id = c.kanon_row AND p.origin = {{ origin }}{% endif %}

-- name: series/create_fates(): What becomes of each cohort that is not whole, or was not shown. Together may leave at least k
-- people of whom at least k, or nobody's rows, remain; under a privacy model all of them, so that those who left are diverse,
-- too.
CREATE TABLE {{ fates }} AS
SELECT counted.*,
    CASE
        WHEN left_rows = 0 THEN CASE WHEN present_people >= {{ k }} THEN 'shown' ELSE 'withheld' END
        WHEN left_people >= {{ k }} AND (present_rows = 0{% if not whole %} OR present_people >= {{ k }}{% endif %}) THEN 'leaving'
{% if leavers == "show" and not whole %}
        ELSE 'leaving'
{% else %}
{% if leavers == "retain" %}
        WHEN NOT erased AND {{ version }} - first_left < {{ longest_retain }} THEN 'retained'
{% endif %}
        ELSE 'withheld'
{% endif %}
    END AS fate
FROM (
    SELECT m.cohort, count(*) FILTER (WHERE m.left_in IS NULL) AS present_rows,
        count(*) FILTER (WHERE m.left_in IS NOT NULL) AS left_rows,
        -- a DISTINCT count sorts the rows of these cohorts
{% if entity %}
        count(DISTINCT m.person) FILTER (WHERE m.left_in IS NULL) AS present_people,
        count(DISTINCT m.person) FILTER (WHERE m.left_in IS NOT NULL) AS left_people,
{% else %}
        count(*) FILTER (WHERE m.left_in IS NULL) AS present_people, count(*) FILTER (WHERE m.left_in IS NOT NULL) AS left_people,
{% endif %}
        min(m.left_in) AS first_left, pg_catalog.bool_or(m.erased) AS erased
    FROM {{ members }} AS m
    WHERE m.cohort IN (
        SELECT a.cohort FROM {{ members }} AS a WHERE a.left_in IS NOT NULL
        UNION
        SELECT c.cohort FROM {{ cohorts }} AS c WHERE NOT c.is_shown
    )
    GROUP BY m.cohort
) AS counted

-- name: series/create_members(): The published rows of a release over time, with their cells as published: these never change.
CREATE TABLE {{ members }} AS
{% include "series/members_of" %}

-- name: series/create_pending(): Rows of the base relation that wait: since which version, and with whom they may enter. Origin 0
-- is for those who were never there, NULL for those who must wait until others have left; `returns` says what came back.
CREATE TABLE {{ pending }} (row_id bigint PRIMARY KEY, person bigint, since bigint NOT NULL, origin bigint, returns text)

-- name: series/create_version(): One version of a release over time: the cells of its members as they were first published. A
-- cohort is shown only while its rows and people are those recorded, and at least k; nothing is read from the base table.
CREATE MATERIALIZED VIEW {{ storage }} AS
WITH present AS (
{% if entity %}
    SELECT held.cohort, sum(held.n)::bigint AS rows, count(held.person) AS people, pg_catalog.bool_or(held.erased) AS erased
    FROM (
        SELECT cohort, person, count(*) AS n, pg_catalog.bool_or(erased) AS erased FROM {{ members }} GROUP BY cohort, person
    ) AS held
    GROUP BY held.cohort
{% else %}
    SELECT cohort, count(*) AS rows, count(*) AS people, pg_catalog.bool_or(erased) AS erased FROM {{ members }}
    GROUP BY cohort
{% endif %}
),
shown AS (
    SELECT present.cohort FROM present INNER JOIN {{ cohorts }} AS recorded ON recorded.cohort = present.cohort
    WHERE recorded.is_shown
        AND present.rows = recorded.rows AND present.people = recorded.people AND present.people >= {{ k }} AND NOT present.erased
)
SELECT
    {% for c in cells %}member.{{ c.cell }} AS {{ c.output }}, {% endfor %}
    {% if entity %}member.person AS kanon_person,{% endif %}
    member.pattern AS kanon_pattern, member.row_id AS kanon_row
FROM (SELECT m.*, m.row_id AS class_hash, 1 AS place FROM {{ members }} AS m) AS member
INNER JOIN shown ON shown.cohort = member.cohort
ORDER BY {% include "guard/shuffled" %}

-- name: series/create_waits(): The rows that wait for a better class in a later version: those of the costliest classes of a
-- batch that cost more than a row of the release does now, as long as not too many people wait and nobody in the class waited
-- long enough.
CREATE TABLE {{ waits }} AS
WITH entered AS (
    SELECT s.kanon_row,
        {% if entity %}s.kanon_person AS person,{% else %}s.kanon_row AS person,{% endif %}
        {% for c in losses %}{{ c }}{% if not loop.last %} +{% endif %} {% endfor %}
        AS loss, p.since,
        min(s.kanon_row) OVER (
            PARTITION BY
                pg_catalog.hash_record_extended(ROW({% for h in hashed %}{{ h }}, {% endfor %}s.kanon_pattern), 0),
                s.kanon_pattern{% for c in classes %}, s.{{ c }}{% endfor %}
        ) AS class
    FROM {{ storage }} AS s INNER JOIN {{ pending }} AS p ON p.row_id = s.kanon_row
),
costly AS (
    SELECT held.class, sum(held.people) OVER (ORDER BY held.loss DESC, held.class ROWS UNBOUNDED PRECEDING) AS together
    FROM (
        SELECT e.class, e.loss, count(DISTINCT e.person) AS people, min(e.since) AS since FROM entered AS e
        GROUP BY e.class, e.loss
    ) AS held
    WHERE held.loss > (
            SELECT r.weighted_cost / greatest(1, r.rows) FROM kanon.release AS r WHERE r.name = {{ release }}
        )
        AND {{ version }} - held.since < {{ longest_wait }}
)
SELECT e.kanon_row AS row_id FROM entered AS e INNER JOIN costly AS d ON d.class = e.class
WHERE d.together <= {{ most }}

-- name: series/delete_departed_members(): Removes the published cells of those who leave.
DELETE FROM {{ members }} AS m USING {{ fates }} AS f WHERE f.cohort = m.cohort AND f.fate = 'leaving' AND m.left_in IS NOT NULL

-- name: series/delete_empty_cohorts(): Forgets cohorts of which everybody left.
DELETE FROM {{ cohorts }} WHERE rows = 0

-- name: series/delete_entered(): What entered waits no more.
DELETE FROM {{ pending }} AS p WHERE EXISTS (SELECT FROM {{ members }} AS m WHERE m.row_id = p.row_id AND m.left_in IS NULL)

-- name: series/delete_returned(): What came back is a member again.
DELETE FROM {{ departed }} AS d WHERE EXISTS (SELECT FROM {{ members }} AS m WHERE m.row_id = d.row_id)

-- name: series/empty_pending(): Forgets who waited before.
DELETE FROM {{ pending }}

-- name: series/erase_members(bigint, bigint): Erases the stored cells of a person; that there were rows stays, so that their
-- cohorts are withheld.
UPDATE {{ members }} SET
    erased = true,
    left_in = coalesce(left_in, $2::bigint){% for c in cells %},
    {{ c.cell }} = NULL{% endfor %}
WHERE person = $1::bigint

-- name: series/erase_pending(bigint): Forgets that rows of a person wait.
DELETE FROM {{ pending }} WHERE person = $1::bigint

-- name: series/fill_pending(): Records who waits.
INSERT INTO {{ pending }} (row_id, person, since, origin, returns)
SELECT row_id, person, since, origin, returns FROM {{ arrivals }}

-- name: series/find_collision(): Whether two rows have one identity, told by members that do not have the contents of a row with
-- their identity.
SELECT EXISTS (
    SELECT FROM {{ current }}() AS c
    WHERE c.kanon_row IN (SELECT g.kanon_row FROM {{ changes }} AS g WHERE NOT g.kanon_same) GROUP BY c.kanon_row
    HAVING count(*) > 1
) AS found

-- name: series/highest_cohort(): The highest number of a cohort of which there are members.
SELECT coalesce(max(cohort), 0) AS highest FROM {{ cohorts }}

-- name: series/histories(): Each person who left, with what stands for all their departures.
    SELECT left_once.person,
        pg_catalog.hash_record_extended(ROW(pg_catalog.array_agg(left_once.departure ORDER BY left_once.departure)), 2) AS origin
    FROM (
        SELECT DISTINCT person, pg_catalog.hash_record_extended(ROW(cohort, version, since), 1) AS departure
        FROM {{ departed }} WHERE person IS NOT NULL
    ) AS left_once
    GROUP BY left_once.person

-- name: series/index_left(): Those who left, who are few: found without reading all members.
CREATE INDEX ON {{ members }} (cohort) WHERE left_in IS NOT NULL

-- name: series/index_members(): One member per row: without this two rows with one hash could be taken for each other.
ALTER TABLE {{ members }} ADD PRIMARY KEY (row_id)

-- name: series/insert_cohorts(bigint, bigint): Records the cohorts that entered with a version.
INSERT INTO {{ cohorts }} (cohort, entered, rows, people)
SELECT m.cohort, $1::bigint, count(*), count(DISTINCT m.person) FROM {{ members }} AS m WHERE m.cohort > $2::bigint
GROUP BY m.cohort

-- name: series/insert_departed(bigint): Records who leaves together.
INSERT INTO {{ departed }} (row_id, person, cohort, version)
SELECT m.row_id, m.person, m.cohort, $1::bigint FROM {{ members }} AS m INNER JOIN {{ fates }} AS f ON f.cohort = m.cohort
WHERE f.fate = 'leaving' AND m.left_in IS NOT NULL

-- name: series/insert_members(): Adds the rows of a guarded storage as members of new cohorts.
INSERT INTO {{ members }} (
    row_id, person, fingerprint, cohort, left_in, erased, pattern{% for c in cells %}, {{ c.cell }}{% endfor %}
)
{% include "series/members_of" %}

-- name: series/mark_back(): Members that are back before they could leave never left.
UPDATE {{ members }} AS m SET left_in = NULL, fingerprint = g.kanon_fingerprint
FROM {{ changes }} AS g
WHERE g.kanon_member = m.row_id AND g.kanon_row IS NOT NULL AND NOT m.erased
    {% if not keep %}AND g.kanon_same{% endif %}

-- name: series/mark_left(bigint): Marks members that left with this version.
UPDATE {{ members }} AS m SET left_in = $1::bigint
FROM {{ changes }} AS g
WHERE g.kanon_member = m.row_id AND m.left_in IS NULL
    {% if keep %}AND g.kanon_row IS NULL{% else %}AND g.kanon_same IS NOT TRUE{% endif %}

-- name: series/members_of(): The rows of a guarded storage as members of new cohorts, one for each class. The hash sorts quickly;
-- classes are compared cell by cell. CASE keeps NOT NULL of domains away from cells that may have to be erased.
SELECT entered.kanon_row AS row_id,
    {% if entity %}entered.kanon_person AS person,{% else %}entered.kanon_row AS person,{% endif %}
    entered.kanon_fingerprint AS fingerprint,
    {{ cohorts_ever }} + pg_catalog.dense_rank() OVER (ORDER BY entered.first_row) AS cohort, NULL::bigint AS left_in,
    false AS erased, entered.kanon_pattern AS pattern,
{% for c in cells %}
    CASE WHEN entered.kanon_row IS NOT NULL THEN entered.{{ c.output }} ELSE {{ c.empty }} END AS {{ c.cell }}{% if not loop.last %},{% endif %}
{% endfor %}
FROM (
    SELECT s.*,
        min(s.kanon_row) OVER (
            PARTITION BY
                pg_catalog.hash_record_extended(ROW({% for h in hashed %}{{ h }}, {% endfor %}s.kanon_pattern), 0),
                s.kanon_pattern{% for c in classes %}, s.{{ c }}{% endfor %}
        ) AS first_row
    FROM {{ storage }} AS s
    {% if waits %}WHERE s.kanon_row NOT IN (SELECT w.row_id FROM {{ waits }} AS w){% endif %}
) AS entered

-- name: series/other_people(): Members whose row is another person's than when they entered: how many, said once.
SELECT count(*) AS rows FROM {{ changes }} AS g INNER JOIN {{ members }} AS m ON m.row_id = g.kanon_member
WHERE g.kanon_row IS NOT NULL AND g.kanon_who IS DISTINCT FROM m.person AND m.left_in IS NULL

-- name: series/recount_cohorts(): The cohorts that are shown, counted on what is stored.
SELECT coalesce(sum(rows), 0)::bigint AS rows, coalesce(min(people), 0) AS smallest
FROM (
    SELECT count(*) AS rows,
        {% if entity %}count(DISTINCT m.person) AS people{% else %}count(*) AS people{% endif %}
    FROM {{ members }} AS m WHERE m.cohort IN (SELECT c.cohort FROM {{ cohorts }} AS c WHERE c.is_shown) GROUP BY m.cohort
) AS cohort

-- name: series/settle_cohorts(): Records what became of each cohort. The rows that are counted are those whose cells are stored.
UPDATE {{ cohorts }} AS c
SET
    rows = CASE WHEN f.fate = 'leaving' THEN f.present_rows ELSE c.rows END,
    people = CASE WHEN f.fate = 'leaving' THEN f.present_people ELSE c.people END,
    is_shown = f.fate IN ('shown', 'retained') OR (f.fate = 'leaving' AND f.present_people >= {{ k }})
FROM {{ fates }} AS f WHERE f.cohort = c.cohort

-- name: series/split_departed(bigint, bigint): Those who came back with other rows have another history from now on than those
-- who stayed away.
UPDATE {{ departed }} AS d SET since = d.since || ARRAY[$2::bigint, $1::bigint]
WHERE d.person IN (SELECT p.person FROM {{ pending }} AS p WHERE p.origin = $1::bigint)

-- name: series/withhold_erased(): Withholds the cohorts of which somebody was erased.
UPDATE {{ cohorts }} SET is_shown = false WHERE cohort IN (SELECT m.cohort FROM {{ members }} AS m WHERE m.erased)
