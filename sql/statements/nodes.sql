-- name: create_values(): The table of one generalized column of a release: what is published of each value at each level below
-- the top, and what that costs. A copy of its own, so that the release does not change with the hierarchy. Values that rows had
-- are somebody's, and go with them (forget_values); others may come yet.
CREATE TABLE {{ table }} (
    value {{ type }} NOT NULL PRIMARY KEY, kanon_seen boolean NOT NULL DEFAULT false,
{% for node in nodes %}
    {{ node.name }} {{ published }} NOT NULL, {{ node.loss }} double precision NOT NULL{% if not loop.last %},{% endif %}
{% endfor %}
)

-- name: describe_values(): The table of a generalized column as the solver needs it, each output one buffer of 64-bit big-endian
-- numbers; and whether different values look alike at level 0.
SELECT count(*) AS n, count(DISTINCT {{ nodes[0].look }}) AS published,
    coalesce(pg_catalog.string_agg(pg_catalog.int8send({{ identity }}), ''), '') AS cells
{% for node in nodes %}
    , coalesce(pg_catalog.string_agg(pg_catalog.int8send(
        pg_catalog.hash_record_extended(ROW({{ node.look }}), 0)
    ), ''), '') AS {{ node.name }}
    , coalesce(pg_catalog.string_agg(pg_catalog.float8send({{ node.loss }}), ''), '') AS {{ node.loss }}
{% endfor %}
    , (SELECT pg_catalog.int8send({{ identity }}) FROM (SELECT) AS one LEFT JOIN {{ table }} AS known ON false) AS null_cell
FROM {{ table }} AS known

-- name: bind_values(): Fills the table of a generalized column from its hierarchy. Runs as one block, because PostgreSQL's own
-- messages about texts that are no values of a type quote them.
DO {{ body }}

-- name: bind_block(): The block of bind_values: values take the column's type and its one spelling, nodes the published type.
-- JSON makes values of texts by the input functions of types, never by casts, which others may have made. What a cell costs is
-- the share of the values that its node stands for, unless each level has one cost.
BEGIN
    INSERT INTO {{ table }} (value{% for node in nodes %}, {{ node.name }}, {{ node.loss }}{% endfor %})
    SELECT
        node.value
{% for node in nodes %}
        , node.{{ node.name }}
        , {% if node.share %}(count(*) OVER (PARTITION BY node.{{ node.name }}) - 1)::double precision
            / greatest(1, count(*) OVER () - 1){% else %}{{ node.fixed }}{% endif %}
{% endfor %}
    FROM (
        SELECT typed.value,
            {{ value_as_node }} AS {{ nodes[0].name }}
            {% for node in nodes[1:] %}, typed.nodes[{{ loop.index }}]::{{ published }} AS {{ node.name }} {% endfor %}
        FROM (
            SELECT spelled.value, source.nodes FROM ({{ source }}) AS source
            CROSS JOIN LATERAL (
                SELECT {{ spelled }} AS value
                FROM pg_catalog.json_to_record(pg_catalog.json_build_object({{ label }}, source.value))
                    AS given ({{ column }} {{ type }})
            ) AS spelled
        ) AS typed
    ) AS node;
{% if plain %}
    IF EXISTS (
        SELECT FROM ({{ source }}) AS source
        WHERE source.value::{{ type }}::{{ plain }} IS DISTINCT FROM source.value::{{ plain }}
    ) THEN
        RAISE EXCEPTION USING ERRCODE = '22001';
    END IF;
{% endif %}
EXCEPTION
    WHEN data_exception OR integrity_constraint_violation OR cannot_coerce THEN
        RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = 'The values of a hierarchy do not fit a column.';
END

-- name: create_given(): Holds a hierarchy that was built for one release until its values have their types.
CREATE TABLE {{ table }} (value text NOT NULL, nodes text[] NOT NULL)

-- name: fill_given(text): Writes a hierarchy given as a JSON list of lists: a value, then its nodes from level 1.
INSERT INTO {{ table }} (value, nodes)
SELECT r.cells ->> 0,
    ARRAY(
        SELECT n.node FROM pg_catalog.jsonb_array_elements_text(r.cells) WITH ORDINALITY AS n (node, place)
        WHERE n.place > 1 ORDER BY n.place
    )
FROM pg_catalog.jsonb_array_elements($1::text::jsonb) AS r (cells)

-- name: mark_seen(): Marks the values of a generalized column that rows have.
UPDATE {{ table }} AS {{ known }} SET kanon_seen = true
WHERE NOT {{ known }}.kanon_seen AND EXISTS (
    SELECT FROM (SELECT {{ spelled }} AS {{ alias }} FROM {{ relation }} AS rows) AS base WHERE {{ knows }}
)

-- name: forget_values(text, text): Forgets values that rows of a release had and none has any more: in the release's own copy of
-- a hierarchy, and in all versions of the stored hierarchy that it was made with, which may spell them otherwise.
WITH gone AS (
    DELETE FROM {{ table }} AS {{ known }}
    WHERE {{ known }}.kanon_seen AND NOT EXISTS (
        SELECT FROM (SELECT {{ spelled }} AS {{ alias }} FROM {{ relation }} AS rows) AS base WHERE {{ knows }}
    )
    RETURNING pg_catalog.concat({{ known }}.value) AS value
),
stored AS (
    DELETE FROM kanon.hierarchy_value AS v
    USING gone, kanon.release AS r
    WHERE r.name = $1::text
        AND v.hierarchy = r.parameters -> 'hierarchies' -> $2::text ->> 'hierarchy'
        AND {% if typed %}(
            SELECT pg_catalog.concat({{ expression }})
            FROM (
                SELECT (pg_catalog.jsonb_populate_record(
                    NULL::{{ table }}, pg_catalog.jsonb_build_object('value', v.value)
                )).value AS {{ column }}
            ) AS given
        ){% else %}v.value{% endif %} = gone.value
    RETURNING v.hierarchy
)
SELECT (SELECT count(*) FROM gone) AS gone, (SELECT min(stored.hierarchy) FROM stored) AS hierarchy,
    (SELECT count(*) FROM stored) AS stored

-- name: create_unknown(): How many rows of the base relation have a value that the release's own copy of a hierarchy does not know.
CREATE VIEW {{ view }} AS
SELECT
{% for g in generalized %}
    count(*) FILTER (WHERE base.{{ g.alias }} IS NOT NULL AND {{ g.known }}.value IS NULL) AS {{ g.count }}{% if not loop.last %},{% endif %}
{% endfor %}
FROM (
    SELECT
        {% for g in generalized %}{{ g.expression }} AS {{ g.alias }}{% if not loop.last %},{% endif %} {% endfor %}
    FROM {{ relation }} AS rows
) AS base
{% for g in generalized %}LEFT JOIN {{ g.table }} AS {{ g.known }} ON {{ g.knows }} {% endfor %}

-- name: missing_values(text[]): The values of a column that are not among some texts, in the type and the one spelling that they
-- have in a release, and how many rows have them.
WITH known AS (
    SELECT {{ text }} AS value
    FROM (
        SELECT {{ spelled }} AS {{ column }} FROM pg_catalog.unnest($1::text[]) AS source (value)
        CROSS JOIN LATERAL pg_catalog.json_to_record(pg_catalog.json_build_object({{ label }}, source.value))
            AS given ({{ column }} {{ type }})
    ) AS typed
)
SELECT base.value, count(*) AS rows
FROM (
    SELECT {{ text }} AS value FROM (SELECT {{ spelled }} AS {{ column }} FROM {{ relation }}) AS seen WHERE {{ column }} IS NOT NULL
) AS base
WHERE NOT EXISTS (SELECT FROM known WHERE known.value COLLATE "C" OPERATOR(pg_catalog.=) base.value COLLATE "C")
GROUP BY base.value ORDER BY rows DESC, base.value COLLATE "C"

-- name: count_unknown(): How many rows have values that the hierarchies of a release do not know, one number per generalized column.
SELECT * FROM {{ view }}

-- name: named_hierarchies(text): The generalized columns of a release whose hierarchies are stored, with the names of these.
SELECT h.key AS name, h.value ->> 'hierarchy' AS hierarchy
FROM kanon.release AS r, pg_catalog.jsonb_each(nullif(r.parameters -> 'hierarchies', 'null'::jsonb)) AS h
WHERE r.name = $1::text AND h.value ->> 'hierarchy' IS NOT NULL

-- name: stored_nodes(): The values of a stored hierarchy with their nodes, as a part of another statement.
SELECT value, nodes FROM kanon.hierarchy_value WHERE hierarchy = {{ name }} AND version = {{ version }}

-- name: hierarchy_recount(text): Counts the nodes of a stored hierarchy anew after it lost values; what it was made with may have
-- them, and goes.
UPDATE kanon.hierarchy AS h SET
    spec = '{}',
    nodes = ARRAY(
        SELECT CASE
            WHEN l.level = 0 THEN count(v.value) WHEN l.level = h.height THEN 1 ELSE count(DISTINCT v.nodes[l.level])
        END::integer
        FROM pg_catalog.generate_series(0, h.height) AS l (level)
        LEFT JOIN kanon.hierarchy_value AS v ON v.hierarchy = h.name AND v.version = h.version
        GROUP BY l.level ORDER BY l.level
    )
WHERE h.name = $1::text
