-- name: series/fetch_series(text): A release over time. What it is made of is NULL if it was dropped behind the record's back.
SELECT s.version, s.request::text AS request, s.weights::text AS weights, s.key_columns::text[] AS keys, s.cohorts_ever,
    s.pending_people, s.longest_wait, s.withheld_rows, s.retained_rows,
    ARRAY(
        SELECT c.relname::text
        FROM pg_catalog.unnest(ARRAY[s.key_view, s.current_rows, s.members, s.cohorts, s.departed, s.pending])
            WITH ORDINALITY AS t (relation, place)
        LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.relation
        ORDER BY t.place
    ) AS relations
FROM kanon.series AS s WHERE s.release = $1::text

-- name: series/store_series(text): Records a release over time that starts: an object of columns of kanon.series.
INSERT INTO kanon.series SELECT s.* FROM pg_catalog.jsonb_populate_record(NULL::kanon.series, $1::text::jsonb) AS s

-- name: series/record_series(text, bigint, bigint): Records the version of a release over time that is published, and its figures.
UPDATE kanon.series AS s
SET
    version = $2::bigint, cohorts_ever = $3::bigint, pending_people = w.people, longest_wait = w.longest,
    withheld_rows = m.withheld, retained_rows = m.retained
FROM (SELECT count(DISTINCT person) AS people, coalesce($2::bigint - min(since) + 1, 0) AS longest FROM {{ pending }}) AS w
CROSS JOIN (
    -- apart: each reads members only if there are such cohorts, or those who left
    SELECT
        (
            SELECT count(*) FROM {{ members }} AS h INNER JOIN {{ cohorts }} AS c ON c.cohort = h.cohort
            WHERE h.left_in IS NULL AND NOT c.is_shown
        ) AS withheld,
        (
            SELECT count(*) FROM {{ members }} AS h INNER JOIN {{ cohorts }} AS c ON c.cohort = h.cohort
            WHERE h.left_in IS NOT NULL AND c.is_shown
        ) AS retained
) AS m
WHERE s.release = $1::text

-- name: series/forget_series(text): Removes the record of a release over time.
DELETE FROM kanon.series WHERE release = $1::text

-- name: series/list_origins(): Origins of which enough people wait. Of those who return, the ones that stay away must be nobody
-- or k people too, in each departure by itself. A departure that another origin has just divided is looked at with the next
-- version.
SELECT waits.origin, waits.returns
FROM (
    SELECT origin, returns, count(DISTINCT person) AS people FROM {{ pending }} WHERE origin IS NOT NULL GROUP BY origin, returns
) AS waits
WHERE waits.people >= {{ k }}
    AND CASE waits.returns
        WHEN 'row' THEN (
            SELECT count(*) = 0 OR count(DISTINCT d.person) >= {{ k }} FROM {{ departed }} AS d
            WHERE pg_catalog.hash_record_extended(ROW(d.cohort, d.version, d.since), 1) = waits.origin
                AND NOT EXISTS (SELECT FROM {{ pending }} AS p WHERE p.row_id = d.row_id AND p.origin = waits.origin)
        ) AND NOT EXISTS (
            SELECT FROM {{ pending }} AS p INNER JOIN {{ departed }} AS d ON d.row_id = p.row_id
            WHERE p.origin = waits.origin
                AND pg_catalog.hash_record_extended(ROW(d.cohort, d.version, d.since), 1) <> waits.origin
        )
        WHEN 'person' THEN NOT EXISTS (
            SELECT FROM {{ departed }} AS d
            LEFT JOIN (SELECT DISTINCT person FROM {{ pending }} AS w WHERE w.origin = waits.origin) AS p ON p.person = d.person
            GROUP BY d.cohort, d.version, d.since
            HAVING count(DISTINCT p.person) BETWEEN 1 AND {{ k }} - 1
                OR (count(p.person) > 0 AND count(DISTINCT d.person) FILTER (WHERE p.person IS NULL) BETWEEN 1 AND {{ k }} - 1)
        )
        ELSE true
    END
ORDER BY waits.origin = 0 DESC, waits.origin

-- name: series/published_types(text): The types of the cells that the generalized columns of a release publish, in their order.
SELECT pg_catalog.format_type(a.atttypid, NULL) AS output
FROM kanon.release AS r
CROSS JOIN LATERAL pg_catalog.unnest(r.nodes) WITH ORDINALITY AS t (relation, place)
INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.relation AND a.attname = 'level_0' AND NOT a.attisdropped
WHERE r.name = $1::text ORDER BY t.place

-- name: series/row_keys(bigint): Columns that tell the rows of a table apart at every moment, those of the primary key first.
SELECT pg_catalog.array_agg(a.attname::text ORDER BY g.place) AS columns
FROM pg_catalog.pg_index AS i
CROSS JOIN LATERAL pg_catalog.generate_series(0, i.indnkeyatts - 1) AS g (place)
LEFT JOIN pg_catalog.pg_attribute AS a
    ON a.attrelid = i.indrelid AND a.attnum = i.indkey[g.place] AND a.attnum > 0 AND a.attnotnull
WHERE i.indrelid = $1::bigint::oid AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indisready AND i.indpred IS NULL
GROUP BY i.indexrelid, i.indisprimary HAVING count(a.attnum) = count(*) ORDER BY i.indisprimary DESC, i.indexrelid LIMIT 1

-- name: series/key_still_holds(bigint, text, text[]): The columns by which a release over time knows rows, as they are called
-- now, and whether an index over all or some of them still tells rows apart at every moment. Without a view of them they are
-- known by name only.
WITH known AS (
    SELECT a.attnum, a.attname FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped
        AND CASE
            WHEN $2::text IS NULL THEN a.attname::text = ANY ($3::text[])
            ELSE EXISTS (
                SELECT FROM pg_catalog.pg_rewrite AS w
                INNER JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
                WHERE w.ev_class = pg_catalog.to_regclass($2::text)
                    AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
            )
        END
)
SELECT ARRAY(SELECT k.attname::text FROM known AS k ORDER BY k.attnum) AS columns,
    EXISTS (
        SELECT FROM pg_catalog.pg_index AS i
        WHERE i.indrelid = $1::bigint::oid
            AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indisready AND i.indpred IS NULL
            AND NOT EXISTS (
                SELECT FROM pg_catalog.generate_series(0, i.indnkeyatts - 1) AS g (place)
                LEFT JOIN pg_catalog.pg_attribute AS a
                    ON a.attrelid = i.indrelid AND a.attnum = i.indkey[g.place] AND a.attnotnull
                WHERE a.attnum IS NULL OR a.attnum NOT IN (SELECT k.attnum FROM known AS k)
            )
    ) AS holds

-- name: series/person_number(text[]): The number by which members know a person, from the value that identifies people or from
-- the key.
SELECT pg_catalog.hash_record_extended(ROW({% for k in keys %}{{ k.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0) AS number
FROM (
    SELECT
        {% for k in keys %}{{ k.expression }} AS {{ k.alias }}{% if not loop.last %},{% endif %} {% endfor %}
    FROM (
        -- JSON makes values of texts by the input functions of types, never by casts, which others may have made
        SELECT *
        FROM pg_catalog.json_to_record(pg_catalog.json_object(
            ARRAY[{% for k in keys %}{{ k.label }}{% if not loop.last %}, {% endif %}{% endfor %}], $1::text[]
        )) AS told ({% for k in keys %}{{ k.name }} {{ k.type }}{% if not loop.last %}, {% endif %}{% endfor %})
    ) AS given
) AS keyed

-- name: series/current_rows(): Each row of a base relation with an identity that lasts, a fingerprint of what is published of it,
-- and its person. Rows without a key are known by their person and contents; equal ones are numbered.
SELECT
    {% for c in columns %}seen.{{ c.alias }} AS {{ c.name }}, {% endfor %}
    seen.kanon_row, seen.kanon_fingerprint,
{% if entity %}
    CASE WHEN seen.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) END
        AS kanon_who
{% else %}
    seen.kanon_row AS kanon_who
{% endif %}
FROM (
    SELECT keyed.*,
{% if keys %}
        pg_catalog.hash_record_extended(ROW({% for k in keys %}{{ k.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0)
            AS kanon_row
{% else %}
        pg_catalog.hash_record_extended(
            ROW(
                {{ entity.keyed }}, keyed.kanon_fingerprint,
                pg_catalog.row_number() OVER (PARTITION BY {{ entity.keyed }}, keyed.kanon_fingerprint)
            ), 0
        ) AS kanon_row
{% endif %}
    FROM (
        SELECT plain.*,
            pg_catalog.hash_record_extended(
                ROW({% for c in columns if c.hashed %}{{ c.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0
            ) AS kanon_fingerprint
        FROM (
            SELECT
{% for c in columns %}
                {{ c.name }} AS {{ c.alias }}{% if not loop.last or keys or entity %},{% endif %}
{% endfor %}
                {% for k in keys %}{{ k.expression }} AS {{ k.alias }}{% if not loop.last or entity %},{% endif %} {% endfor %}
                {% if entity %}{{ entity.expression }} AS person{% endif %}
            FROM {{ relation }}
        ) AS plain
    ) AS keyed
) AS seen

-- name: series/create_key_view(): Which columns identify the rows of a base relation: the view follows them when they are
-- renamed, or restored elsewhere.
CREATE VIEW {{ view }} AS SELECT {% for k in keys %}{{ k }}{% if not loop.last %}, {% endif %}{% endfor %} FROM {{ relation }}

-- name: series/be_durable(): A version that readers saw must not be lost in a crash: its commit waits for the disk.
SELECT
    CASE
        WHEN pg_catalog.current_setting('synchronous_commit') = 'off'
            THEN pg_catalog.set_config('synchronous_commit', 'on', true)
        ELSE ''
    END AS changed

-- name: series/this_transaction(): The number of this transaction, whose own version it must not read.
SELECT pg_catalog.pg_current_xact_id()::text AS number

-- name: series/is_populated(text): Whether a materialized view has been filled.
SELECT coalesce((SELECT c.relispopulated FROM pg_catalog.pg_class AS c WHERE c.oid = pg_catalog.to_regclass($1::text)), false) AS populated

-- name: series/compare_series(): How many people an earlier series and a new one tell apart together: those who share their class
-- in both with fewer than k people.
SELECT coalesce(sum(people) FILTER (WHERE people < {{ k }}), 0)::bigint AS exposed, coalesce(min(people), 0) AS smallest
FROM (
    SELECT count(DISTINCT m.person) AS people FROM {{ members }} AS m INNER JOIN {{ earlier }} AS e ON e.person = m.person
    GROUP BY m.cohort, e.cohort
) AS both_classes

-- name: series/compare_versions(): The rows that only one of two versions shows in a class: the fewest people of a class whose
-- rows these are.
WITH differing AS MATERIALIZED (
    SELECT o.kanon_row IS NOT NULL AS was_there, n.kanon_row IS NOT NULL AS is_there,
        {% for c in columns %}{{ c.shown_before }} AS {{ c.before }}, {{ c.shown_after }} AS {{ c.after }}, {% endfor %}
{% if entity %}
        o.kanon_person AS o_person, n.kanon_person AS n_person,
{% else %}
        o.kanon_row AS o_person, n.kanon_row AS n_person,
{% endif %}
        o.kanon_pattern AS o_pattern, n.kanon_pattern AS n_pattern
    FROM {{ before }} AS o
    FULL JOIN {{ storage }} AS n ON n.kanon_row = o.kanon_row
    WHERE o.kanon_row IS NULL OR n.kanon_row IS NULL OR o.kanon_pattern <> n.kanon_pattern
        {% for c in columns %}OR {{ c.shown_before }} IS DISTINCT FROM {{ c.shown_after }} {% endfor %}
)
SELECT
    (
        SELECT min(people)
        FROM (
            SELECT count(DISTINCT n_person) AS people FROM differing WHERE is_there
            GROUP BY n_pattern{% for c in columns %}, {{ c.after }}{% endfor %}
        ) AS class
    ) AS fewest_new,
    (
        SELECT min(people)
        FROM (
            SELECT count(DISTINCT o_person) AS people FROM differing WHERE was_there
            GROUP BY o_pattern{% for c in columns %}, {{ c.before }}{% endfor %}
        ) AS class
    ) AS fewest_gone

-- name: series/room_to_wait(): How many of the people who may enter may wait: the share of everybody without those who must wait,
-- but at most half of them.
SELECT floor(least(batch.people / 2, {{ share }} * (r.people + batch.people) - batch.others))::bigint AS most
FROM kanon.release AS r
CROSS JOIN (
    SELECT count(DISTINCT p.person) FILTER (WHERE p.origin = {{ origin }}) AS people,
        count(DISTINCT p.person) FILTER (WHERE p.origin IS DISTINCT FROM {{ origin }}) AS others
    FROM {{ pending }} AS p
) AS batch
WHERE r.name = {{ release }}
