-- name: measure_classes(): Counts the equivalence classes of a relation in one pass over it. Grouping sets: all keys together (a
-- group is a class), each categorical quasi-identifier alone (a group is a published value), the person alone. `whole` tells the
-- classes from the other groups; it looks at two keys because GROUPING() takes no more than 31.
WITH source AS NOT MATERIALIZED (
    SELECT
{% for q in columns %}
        {{ q.column }} AS {{ q.alias }},
{% if suppressed and q.categorical %}
        {{ q.label }}::name OPERATOR(pg_catalog.=) ANY ({{ suppressed }}) AS {{ q.hidden }},
{% endif %}
{% endfor %}
        {% if suppressed %}{{ suppressed }} AS suppressed,{% endif %}
        {% if entity %}{{ entity }}{% else %}NULL{% endif %} AS person
    FROM {{ relation }}
),
{% if on_nodes %}
-- Citus has no grouping sets. Its nodes count the classes, for good those of people that are on one node; only classes travel.
unit AS MATERIALIZED (
{% if entity %}
    SELECT {{ keys }}, sum(n)::bigint AS n, sum(somebody)::bigint AS people
    FROM (
        SELECT {{ keys }}, person, count(*) AS n, (person IS NOT NULL)::integer AS somebody FROM source
        GROUP BY {{ keys }}, person
    ) AS held
    GROUP BY {{ keys }}
{% else %}
    SELECT {{ keys }}, count(*) AS n, count(*) AS people FROM source
    GROUP BY {{ keys }}
{% endif %}
),
{% if entity %}
everybody AS MATERIALIZED (SELECT count(DISTINCT person) AS people FROM source),
{% endif %}
{% elif entity %}
unit AS (SELECT {{ keys }}, person, count(*) AS n FROM source GROUP BY {{ keys }}, person),
{% endif %}
grouped AS (
    SELECT {{ keys }},
{% for q in columns %}
{% if q.categorical %}
        GROUPING({{ q.alias }}) = 0 AS {{ q.present }},
        {% if suppressed %}{{ q.hidden }},{% endif %}
{% endif %}
{% endfor %}
        GROUPING({{ marks }}) = 0 AS whole,
{% if on_nodes %}
        sum(n) AS row_count, sum(greatest(1, people))::bigint AS people
    FROM unit
{% elif entity %}
        GROUPING(person) = 0 AND person IS NOT NULL AS somebody, sum(n) AS row_count, greatest(1, count(person)) AS people
    FROM unit
{% else %}
        count(*) AS row_count, count(*) AS people
    FROM source
{% endif %}
    GROUP BY GROUPING SETS (
        ({{ keys }})
{% if separate %}
{% for q in columns %}
        {% if q.categorical %}, ({{ q.alias }}{% if suppressed %}, {{ q.hidden }}{% endif %}){% endif %}
{% endfor %}
{% endif %}
        {% if entity and not on_nodes %}, (person){% endif %}
    )
)
SELECT count(*) FILTER (WHERE whole) AS classes, coalesce(sum(row_count) FILTER (WHERE whole), 0)::bigint AS rows,
{% if entity and on_nodes %}
    greatest(1, (SELECT e.people FROM everybody AS e)) AS people,
{% elif entity %}
    greatest(1, count(*) FILTER (WHERE somebody)) AS people,
{% else %}
    coalesce(sum(row_count) FILTER (WHERE whole), 0)::bigint AS people,
{% endif %}
    coalesce(sum(people) FILTER (WHERE whole), 0)::bigint AS memberships, min(people) FILTER (WHERE whole) AS smallest,
    max(people) FILTER (WHERE whole) AS largest,
    sum(row_count::numeric * row_count) FILTER (WHERE whole) AS discernibility
{% for q in columns %}
{% if suppressed %}
    , count(*) FILTER (WHERE whole AND {{ q.label }}::name OPERATOR(pg_catalog.=) ANY (suppressed)) AS {{ q.hidden }}
{% endif %}
{% if q.categorical %}
    , count(*) FILTER (WHERE {{ q.present }}
        {%- if separate %} AND NOT whole{% endif %}
        {%- if suppressed %} AND NOT {{ q.hidden }}{% endif %}) AS {{ q.domain }}
{% elif q.low %}
    , min({{ q.low }}) FILTER (WHERE whole AND {{ q.low }} > '-Infinity') AS {{ q.lowest }}
    , max({{ q.high }}) FILTER (WHERE whole AND {{ q.high }} < 'Infinity') AS {{ q.highest }}
    , coalesce(sum({{ q.high }} - {{ q.low }}) FILTER (
        WHERE whole AND {{ q.high }} < 'Infinity' AND {{ q.low }} > '-Infinity'
    ), 0) AS {{ q.width }}
    , count(*) FILTER (WHERE whole AND ({{ q.high }} = 'Infinity' OR {{ q.low }} = '-Infinity')) AS {{ q.unbounded }}
{% endif %}
{% endfor %}
FROM grouped

-- name: measure_sensitive(): The worst figures of one sensitive column over all equivalence classes. In the whole relation a
-- person counts once per value if people_once, else once per class and value. A class is held as the places of its values in the
-- column's domain and how often each occurs. Earth mover's distances are computed exactly only for classes whose upper bound
-- exceeds the largest lower bound of all classes; kanon_pg/measures.py has the formulas and says why the bounds hold. Few classes
-- are stored for the second look. Many are not: with many small classes a second look is seldom needed, and counting again then
-- costs less than storing (`worst` needs no arrays).
WITH source AS NOT MATERIALIZED (
    SELECT
        {% for q in columns %}{{ q.column }} AS {{ q.alias }}, {% endfor %}
        {% if suppressed %}{{ suppressed }} AS suppressed,{% endif %}
        {% if entity %}{{ entity }} AS person,{% endif %}
        {{ sensitive }} AS value
    FROM {{ relation }}
),
{% if entity %}
-- On the nodes of Citus counted twice: stored, it would have to travel.
unit AS {% if on_nodes %}NOT {% endif %}MATERIALIZED (
    SELECT {{ keys }}, value, person FROM source GROUP BY {{ keys }}, value, person
),
cell AS MATERIALIZED (
    SELECT {{ keys }}, value, greatest(1, count(person))::double precision AS n FROM unit GROUP BY {{ keys }}, value
),
counted AS (
{% if people_once %}
    SELECT value, greatest(1, count(DISTINCT person))::double precision AS n FROM unit
{% else %}
    SELECT value, sum(n) AS n FROM cell
{% endif %}
    GROUP BY value
),
{% else %}
cell AS (SELECT {{ keys }}, value, count(*)::double precision AS n FROM source GROUP BY {{ keys }}, value),
-- A second scan costs less than storing every cell to read it twice.
counted AS (SELECT value, count(*)::double precision AS n FROM source GROUP BY value),
{% endif %}
ranked AS MATERIALIZED (
    SELECT value, n / sum(n) OVER () AS share,
{% if ordered %}
        sum(n) OVER (ORDER BY value) / sum(n) OVER () AS cumulative,
        (row_number() OVER (ORDER BY value))::integer AS place
{% else %}
        (row_number() OVER ())::integer AS place
{% endif %}
    FROM counted
),
{% if ordered %}
summed AS MATERIALIZED (SELECT *, sum(cumulative) OVER (ORDER BY place) AS area FROM ranked),
scale AS MATERIALIZED (SELECT count(*)::integer AS places, sum(place * share) AS mean, max(area) - 1 AS whole_area FROM summed),
curve AS MATERIALIZED (
    SELECT pg_catalog.array_agg(share ORDER BY place) AS shares, pg_catalog.array_agg(cumulative ORDER BY place) AS cumulatives,
        pg_catalog.array_prepend(0::double precision, pg_catalog.array_agg(area ORDER BY place)) AS areas
    FROM summed
),
domain AS MATERIALIZED (
    SELECT summed.value, summed.share, summed.place,
        2 * (summed.area - summed.cumulative) + scale.places - summed.place - scale.whole_area AS reach
    FROM summed CROSS JOIN scale
),
{% else %}
domain AS (SELECT * FROM ranked),
curve AS MATERIALIZED (SELECT pg_catalog.array_agg(share ORDER BY place) AS shares FROM ranked),
{% endif %}
member AS (
    SELECT {{ keys }}, cell.n,
        coalesce(domain.share, (SELECT d.share FROM domain AS d WHERE d.value IS NOT DISTINCT FROM NULL)) AS share,
        coalesce(domain.place, (SELECT d.place FROM domain AS d WHERE d.value IS NOT DISTINCT FROM NULL)) AS place,
{% if ordered %}
        coalesce(domain.reach, (SELECT d.reach FROM domain AS d WHERE d.value IS NOT DISTINCT FROM NULL)) AS reach,
{% endif %}
        0 AS people
    FROM cell LEFT JOIN domain ON {{ same_value }}
{% if entity %}
    UNION ALL
    SELECT {{ keys }}, NULL, NULL, NULL,
        {% if ordered %}NULL,{% endif %}
        count(person)
    FROM (SELECT {{ keys }}, person FROM unit GROUP BY {{ keys }}, person) AS known GROUP BY {{ keys }}
{% endif %}
),
class AS {% if many_classes %}NOT {% endif %}MATERIALIZED (
    SELECT sum(n) AS size,
        {% if entity %}greatest(1, sum(people))::double precision AS people,{% else %}sum(n) AS people,{% endif %}
        count(n) AS different, max(n) AS most, pg_catalog.ln(sum(n)) - sum(n * pg_catalog.ln(n)) / sum(n) AS entropy,
        max(n / share) / sum(n) AS highest_ratio, min(n / share) / sum(n) AS lowest_ratio, 1 - sum(share) AS equal_low,
        {% if ordered %}sum(n * place) / sum(n) AS mean, sum(n * reach) / sum(n) AS ordered_high,{% endif %}
        pg_catalog.array_agg(place) FILTER (WHERE n IS NOT NULL) AS places,
        pg_catalog.array_agg(n) FILTER (WHERE n IS NOT NULL) AS counts
    FROM member GROUP BY {{ keys }}
),
worst AS MATERIALIZED (
    SELECT min(different) AS different, min(entropy) AS entropy, min(people / most) AS people_per_value,
        max(highest_ratio) AS highest_ratio, min(lowest_ratio) AS lowest_ratio,
{% if ordered %}
        max(abs(mean - (SELECT s.mean FROM scale AS s))) AS ordered_low, max(ordered_high) AS ordered_high,
{% endif %}
        max(1 - 1 / highest_ratio) AS equal_high, max(equal_low) AS equal_low
    FROM class
),
candidate AS (
    SELECT places, counts, size FROM class
    WHERE (
        SELECT
            w.equal_high > w.equal_low + 1e-12
            {% if ordered %}OR w.ordered_high > w.ordered_low + 1e-12{% endif %}
        FROM worst AS w
    ) AND (
        1 - 1 / highest_ratio > (SELECT w.equal_low FROM worst AS w) + 1e-12
        {% if ordered %}OR ordered_high > (SELECT w.ordered_low FROM worst AS w) + 1e-12{% endif %}
    )
),
exact AS (
    SELECT
        {% if ordered %}max(distance.ordered) AS ordered,{% endif %}
        max(distance.equal) AS equal
    FROM candidate
    CROSS JOIN LATERAL (
        SELECT
{% if ordered %}
            (SELECT c.areas FROM curve AS c)[min(place)] + sum(
                p * (2 * turn - place - last + 1)
                - 2 * (SELECT c.areas FROM curve AS c)[turn + 1]
                + (SELECT c.areas FROM curve AS c)[place]
                + (SELECT c.areas FROM curve AS c)[last + 1]
            ) AS ordered,
{% endif %}
            sum(greatest(0, n / size - (SELECT c.shares FROM curve AS c)[place])) AS equal
{% if ordered %}
        FROM (
            SELECT *, greatest(place - 1, least(last, pg_catalog.width_bucket(p, (SELECT c.cumulatives FROM curve AS c)))) AS turn
            FROM (
                SELECT place, n, sum(n) OVER by_place / size AS p,
                    coalesce(lead(place) OVER by_place, (SELECT s.places FROM scale AS s)) - 1 AS last
                FROM ROWS FROM (pg_catalog.unnest(places), pg_catalog.unnest(counts)) AS held (place, n)
                WINDOW by_place AS (ORDER BY place)
            ) AS step
        ) AS turned
{% else %}
        FROM ROWS FROM (pg_catalog.unnest(places), pg_catalog.unnest(counts)) AS held (place, n)
{% endif %}
    ) AS distance
)
SELECT worst.different AS distinct_l, exp(worst.entropy) AS entropy_l, worst.people_per_value AS frequency_l,
    greatest(0, worst.equal_low, exact.equal) AS t_equal,
{% if ordered %}
    greatest(0, worst.ordered_low, exact.ordered) / greatest(1, scale.places - 1) AS t_ordered,
{% else %}
    NULL::double precision AS t_ordered,
{% endif %}
    greatest(0, pg_catalog.ln(worst.highest_ratio), -pg_catalog.ln(worst.lowest_ratio)) AS delta_disclosure,
    greatest(0, worst.highest_ratio - 1) AS beta_likeness
FROM worst CROSS JOIN exact
{% if ordered %}CROSS JOIN scale{% endif %}
