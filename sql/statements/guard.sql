-- name: guard/assigned(): Every row with the pattern of its row type. Rows of a divided row type are numbered by a hash with a
-- secret seed: to readers that is chance, and nothing in a row, a sensitive value least of all, says whether it is suppressed. A
-- refresh leaves them as they are: drawn anew, a row would show other cells each time, and all of them in the end. Rows with
-- equal hashes look alike wherever readers see them. The second hash leaves nothing of the sum of which the first consists.
{% if parts %}
typed AS MATERIALIZED (
    SELECT base.*,
        {% include "guard/row_type" %} AS row_type
    FROM base
),
divided AS MATERIALIZED (
    SELECT row_type, pg_catalog.array_agg(first_row ORDER BY first_row) AS first_rows,
        pg_catalog.array_agg(pattern ORDER BY first_row) AS patterns, min(seed) AS seed
    FROM {{ parts }} GROUP BY row_type
),
numbered AS (
    SELECT typed.*,
        pg_catalog.row_number() OVER (
            PARTITION BY typed.row_type
            ORDER BY pg_catalog.hash_record_extended(ROW(pg_catalog.int8send(pg_catalog.hash_record_extended(
                ROW({% for c in model_columns + carried %}{{ c.looks.typed }}{% if not loop.last %}, {% endif %}{% endfor %}), d.seed
            ))), d.seed)
        ) AS row_number
    FROM typed INNER JOIN divided AS d ON d.row_type = typed.row_type
),
assigned AS (
    SELECT typed.*, mapping.pattern FROM typed LEFT JOIN {{ mapping }} AS mapping ON mapping.row_type = typed.row_type
    WHERE NOT EXISTS (SELECT FROM divided AS d WHERE d.row_type = typed.row_type)
    UNION ALL
    SELECT
        {% for q in columns + model_columns + carried %}numbered.{{ q.alias }}, {% endfor %}
        {% if entity %}numbered.person, {% if source %}numbered.ordinality,{% endif %}{% endif %}
        numbered.row_type, divided.patterns[pg_catalog.width_bucket(numbered.row_number, divided.first_rows)]
    FROM numbered INNER JOIN divided ON divided.row_type = numbered.row_type
),
{% else %}
assigned AS (
    SELECT base.*, mapping.pattern FROM base
    LEFT JOIN {{ mapping }} AS mapping
        ON mapping.row_type = {% include "guard/row_type" %}
),
{% endif %}

-- name: guard/base(): The columns that the guard reads of the base relation, under names that are free of the user's: through the
-- relation's reader, unless kanon itself made the table. What the reader gives is numbered for nothing, which its order needs
-- where people have several rows.
base AS (
{% if source %}
    SELECT * FROM {{ source }}{% if entity %} WITH ORDINALITY{% endif %}
{% else %}
{% include "guard/base_columns" %}
{% endif %}
),

-- name: guard/base_columns(): What a release reads of the rows of its base relation.
    SELECT
{% for q in columns + model_columns %}
        {{ q.expression }} AS {{ q.alias }}{% if not loop.last or carried or entity %},{% endif %}
{% endfor %}
        {% for c in carried %}{{ c.expression }} AS {{ c.alias }}{% if not loop.last or entity %},{% endif %} {% endfor %}
        {% if entity %}{{ entity.expression }} AS person{% endif %}
    FROM {{ relation }}

-- name: guard/base_rows(): What is counted of each row of a source; of a shard, with how many rows share it, because PostgreSQL
-- 15 sends no partial aggregates to foreign servers.
    SELECT
{% if shards %}
        {% for q in columns %}{{ q.alias }}, {% endfor %}{% if entity %}person, {% endif %}count(*) AS n
    FROM (
        SELECT
{% endif %}
        {% for q in columns %}{{ q.expression }} AS {{ q.alias }}{% if not loop.last or entity %},{% endif %} {% endfor %}
        {% if entity %}{{ entity.expression }} AS person{% endif %}
    FROM {{ source }}
{% if shards %}
    ) AS shard
    GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last or entity %}, {% endif %}{% endfor %}{% if entity %}person{% endif %}
{% endif %}

-- name: guard/leveled(): The level of each cell and what may be published of it. A value that its hierarchy does not know has the
-- top, and so has every level that there is not. Levels are computed once (OFFSET 0) and packed again, so that the pattern says
-- what is shown.
leveled AS (
    SELECT assigned.*,
{% for q in columns %}
{% if q.levels %}
        CASE
            WHEN {{ q.levels.known }}.value IS NULL AND assigned.{{ q.alias }} IS NOT NULL THEN {{ q.levels.height }}
            ELSE least({{ q.levels.height }}, (coalesce(assigned.pattern, {{ all_suppressed }}) >> {{ q.offset }}) & {{ q.mask }})
        END AS {{ q.level }}
        {% for node in q.levels.nodes %}, {{ q.levels.known }}.{{ node.name }} AS {{ node.alias }} {% endfor %}
{% else %}
        (coalesce(assigned.pattern, {{ all_suppressed }}) >> {{ q.offset }}) & 1 AS {{ q.level }}
{% endif %}
        {% if not loop.last %},{% endif %}
{% endfor %}
    FROM assigned
{% for q in columns %}
    {% if q.levels %}LEFT JOIN {{ q.levels.table }} AS {{ q.levels.known }} ON {{ q.levels.knows }}{% endif %}
{% endfor %}
    OFFSET 0
),
masked AS (
    SELECT
        {% for q in columns %}(leveled.{{ q.level }}::bigint << {{ q.offset }}){% if not loop.last %} |{% endif %} {% endfor %}
        AS pattern
{% for q in columns %}
{% if q.levels %}
        , CASE leveled.{{ q.level }}
            {% for node in q.levels.nodes %}WHEN {{ loop.index0 }} THEN leveled.{{ node.alias }} {% endfor %}
        END AS {{ q.alias }}
{% else %}
        , CASE WHEN leveled.{{ q.level }} = 0 THEN leveled.{{ q.alias }} ELSE {{ q.suppressed }} END AS {{ q.alias }}
{% endif %}
{% endfor %}
        {% for c in model_columns + carried %}, leveled.{{ c.alias }} {% endfor %}
        {% if entity %}, leveled.person {% if source %}, leveled.ordinality{% endif %}{% endif %}
    FROM leveled
),

-- name: guard/masked(): Every row with what is published of its quasi-identifiers, and the pattern that says so: first, where a
-- sort finds it without looking at the cells.
{% if generalized %}
{% include "guard/leveled" %}
{% else %}
masked AS (
    SELECT
        coalesce(assigned.pattern, {{ all_suppressed }}) AS pattern
{% for q in columns %}
        , CASE WHEN coalesce(assigned.pattern, {{ all_suppressed }}) & {{ q.bit }} = 0 THEN assigned.{{ q.alias }} ELSE {{ q.suppressed }} END
            AS {{ q.alias }}
{% endfor %}
        {% for c in model_columns + carried %}, assigned.{{ c.alias }} {% endfor %}
        {% if entity %}, assigned.person {% if source %}, assigned.ordinality{% endif %}{% endif %}
    FROM assigned
),
{% endif %}

-- name: guard/model_checks(): Classes in which one sensitive column satisfies the privacy models, counted in rows or in people.
-- The values of the column are numbered in order.
{% if j.of_people %}
{{ j.unit }} AS MATERIALIZED (
    SELECT class, people, person, pg_catalog.dense_rank() OVER (ORDER BY value) AS place
    FROM (SELECT class, people, {{ j.value }} AS value, person FROM counted GROUP BY class, people, {{ j.value }}, person) AS held
),
{{ j.cell }} AS (
    SELECT class, greatest(1, people) AS size, place, greatest(1, count(person))::double precision AS n,
        sum(greatest(1, count(person))::double precision) OVER (PARTITION BY class) AS total
    FROM {{ j.unit }} GROUP BY class, people, place
),
{% else %}
{{ j.cell }} AS (
    SELECT class, size, pg_catalog.dense_rank() OVER (ORDER BY value) AS place, n, size::double precision AS total
    FROM (
        SELECT class, size, {{ j.value }} AS value, count(*)::double precision AS n FROM counted
        GROUP BY class, size, {{ j.value }}
    ) AS held
),
{% endif %}
{% if models.of_whole %}
{{ j.whole }} AS MATERIALIZED (
    SELECT place, n / sum(n) OVER () AS share, sum(n) OVER (ORDER BY place) / sum(n) OVER () AS cumulative
    FROM (
{% if j.of_people %}
        SELECT place, greatest(1, count(DISTINCT person))::double precision AS n FROM {{ j.unit }} GROUP BY place
{% else %}
        SELECT place, sum(n) AS n FROM {{ j.cell }} GROUP BY place
{% endif %}
    ) AS value
),
{% endif %}
{% if models.in_order %}
{{ j.curve }} AS MATERIALIZED (
    SELECT count(*)::integer AS places, pg_catalog.array_agg(cumulative ORDER BY place) AS cumulatives,
        pg_catalog.array_prepend(0::double precision, pg_catalog.array_agg(area ORDER BY place)) AS areas
    FROM (SELECT *, sum(cumulative) OVER (ORDER BY place) AS area FROM {{ j.whole }}) AS summed
),
-- From one value of a class to its next, up to `last`, the class's cumulated share is p; that of the whole
-- table rises and passes it after `turn`.
{{ j.step }} AS (
    SELECT *, greatest(place - 1, least(last, pg_catalog.width_bucket(p, (SELECT c.cumulatives FROM {{ j.curve }} AS c)))) AS turn
    FROM (
        SELECT class, size, total, n, place::integer AS place, sum(n) OVER by_place / total AS p,
            coalesce(lead(place) OVER by_place, (SELECT c.places FROM {{ j.curve }} AS c))::integer - 1 AS last
        FROM {{ j.cell }}
        WINDOW by_place AS (PARTITION BY class ORDER BY place)
    ) AS reached
),
{% endif %}
{{ j.satisfying }} AS (
    SELECT class
    FROM {% if models.in_order %}{{ j.step }}{% else %}{{ j.cell }}{% if models.of_whole %} INNER JOIN {{ j.whole }} USING (place){% endif %}{% endif %}
    GROUP BY class, size, total
    HAVING {% for condition in models.conditions %}
{% set threshold = condition.threshold %}
{% include "guard/models/" ~ condition.model %}
        {% if not loop.last %}AND {% endif %} {% endfor %}
),

-- name: guard/models/distinct(): A class has so many different values.
count(*) >= {{ threshold }}

-- name: guard/models/entropy(): The entropy of the values of a class is so high.
pg_catalog.ln(total) - sum(n * pg_catalog.ln(n)) / total >= {{ threshold }}

-- name: guard/models/equal(): A class is no further from the whole table, all values being equally far from each other.
sum(greatest(0, n / total - share)) <= {{ threshold }}

-- name: guard/models/frequency(): No value has more than one in so many of a class.
max(n) * {{ threshold }} <= size

-- name: guard/models/ordered(): A class is no further from the whole table, values being as far from each other as their ranks.
(SELECT c.areas FROM {{ j.curve }} AS c)[min(place)] + sum(
            p * (2 * turn - place - last + 1)
            - 2 * (SELECT c.areas FROM {{ j.curve }} AS c)[turn + 1]
            + (SELECT c.areas FROM {{ j.curve }} AS c)[place]
            + (SELECT c.areas FROM {{ j.curve }} AS c)[last + 1]
        ) <= {{ threshold }} * greatest(1, (SELECT c.places FROM {{ j.curve }} AS c) - 1)

-- name: guard/row_type(): The hash by which the mapping knows the row type of a row.
pg_catalog.hash_record_extended(
            ROW({% for q in columns + model_columns %}{{ q.base_hash }}{% if not loop.last %}, {% endif %}{% endfor %}), {{ hash_seed }}
        )

-- name: guard/shuffled(): Orders the rows of a query, each of which has another place among those of its class_hash, by chance
-- that no session controls. A strong random number for each row would take a tenth of the time of a release; so three are drawn
-- each time, and the places pass through a hash with each.
pg_catalog.hashfloat8extended(
    pg_catalog.hashfloat8extended(
        pg_catalog.hashfloat8extended(
            place, class_hash # (SELECT pg_catalog.uuid_hash_extended(pg_catalog.gen_random_uuid(), 0))
        )::double precision,
        (SELECT pg_catalog.uuid_hash_extended(pg_catalog.gen_random_uuid(), 0))
    )::double precision,
    (SELECT pg_catalog.uuid_hash_extended(pg_catalog.gen_random_uuid(), 0))
)

-- name: guard/subsets(): Rows of which each combination of so many columns, suppressed cells included, is shared by k people. Where one
-- is not, all rows that show it are left out, which may leave others with fewer than k, and so on until none is left: what is kept is
-- all that can be. People are counted up to k. Rows are found by the hash of what they show; where two have the same, both are left out.
hashed AS MATERIALIZED (
    SELECT
        pg_catalog.hash_record_extended(
            ROW({% for q in columns %}{{ q.masked_hash }}, {% endfor %}masked.pattern), 0
        ) AS class_hash,
        {% if entity %}CASE WHEN masked.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.masked_hash }}), 0) END AS who,{% endif %}
        masked.*
    FROM masked
),
looks AS MATERIALIZED (
    SELECT class_hash, pattern, {% for q in columns %}{{ q.alias }}, {% endfor %}
        {% if entity %}who{% else %}least(count(*), {{ k }})::integer AS n{% endif %}
    FROM hashed
    WHERE class_hash IN (
        SELECT one.class_hash
        FROM (SELECT class_hash FROM hashed GROUP BY class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %}) AS one
        GROUP BY one.class_hash HAVING count(*) = 1
    )
    GROUP BY class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %}{% if entity %}, who{% endif %}
),
-- Each row has all that was left out before, and what is found then.
rare AS (
    SELECT '{}'::bigint[] AS hashes
    UNION ALL
    SELECT before.hashes || found.hashes
    FROM rare AS before
    CROSS JOIN LATERAL (
        WITH shown AS MATERIALIZED (
            SELECT looks.* FROM looks
            WHERE NOT EXISTS (
                SELECT FROM pg_catalog.unnest(before.hashes) AS gone (class_hash) WHERE gone.class_hash = looks.class_hash
            )
        )
        SELECT pg_catalog.array_agg(DISTINCT few.class_hash) AS hashes
        FROM (
{% for combination in subsets %}
            SELECT pg_catalog.unnest(pg_catalog.array_agg(class_hash)) AS class_hash FROM shown
            GROUP BY pattern & {{ combination.bits }}{% for q in combination.columns %}, {{ q.alias }}{% endfor %}
            HAVING {% if entity %}count(DISTINCT who){% else %}sum(n){% endif %} < {{ k }}
            {% if not loop.last %}UNION ALL{% endif %}
{% endfor %}
        ) AS few
    ) AS found
    WHERE found.hashes IS NOT NULL
),
kept AS (
    SELECT class_hash FROM looks
    EXCEPT
    SELECT pg_catalog.unnest(hashes) FROM (SELECT hashes FROM rare ORDER BY pg_catalog.cardinality(hashes) DESC LIMIT 1) AS last_one
),
counted AS (SELECT hashed.*, pg_catalog.row_number() OVER () AS place FROM hashed)
