-- The worst figures of one sensitive column over all equivalence classes.
--
-- A class is held as the places of its values in the column's domain and how often each occurs. Earth
-- mover's distances are computed exactly only for classes whose upper bound exceeds the largest lower
-- bound of all classes; kanon_pg/measure/sensitive.py has the formulas and says why the bounds hold.
WITH source AS (
    SELECT
{% for q in columns %}
        {{ q.column }} AS {{ q.alias }},
{% endfor %}
{% if suppressed %}
        {{ suppressed }} AS suppressed,
{% endif %}
{% if entity %}
        {{ entity }} AS person,
{% endif %}
        {{ sensitive }} AS value
    FROM {{ relation }}
),

{% if entity %}
unit AS MATERIALIZED (
    SELECT {{ keys }}, value, person
    FROM source
    GROUP BY {{ keys }}, value, person
),

cell AS MATERIALIZED (
    SELECT {{ keys }}, value, greatest(1, count(person))::double precision AS n
    FROM unit
    GROUP BY {{ keys }}, value
),

{% else %}
cell AS MATERIALIZED (
    SELECT {{ keys }}, value, count(*)::double precision AS n
    FROM source
    GROUP BY {{ keys }}, value
),

{% endif %}
ranked AS (
    SELECT
        {{ domain_key }} AS key,
        sum(n) / sum(sum(n)) OVER () AS share,
{% if ordered %}
        sum(sum(n)) OVER (ORDER BY value) / sum(sum(n)) OVER () AS cumulative,
        (row_number() OVER (ORDER BY value))::integer AS place
{% else %}
        (row_number() OVER ())::integer AS place
{% endif %}
    FROM cell
    GROUP BY value
),

{% if ordered %}
summed AS MATERIALIZED (
    SELECT *, sum(cumulative) OVER (ORDER BY place) AS area
    FROM ranked
),

curve AS MATERIALIZED (
    SELECT
        count(*)::integer AS places,
        sum(place * share) AS mean,
        max(area) - 1 AS whole_area,
        pg_catalog.array_agg(share ORDER BY place) AS shares,
        pg_catalog.array_agg(cumulative ORDER BY place) AS cumulatives,
        pg_catalog.array_prepend(0::double precision, pg_catalog.array_agg(area ORDER BY place)) AS areas
    FROM summed
),

domain AS MATERIALIZED (
    SELECT
        key,
        share,
        place,
        2 * (area - cumulative) + (curve.places - place) - curve.whole_area AS reach
    FROM summed
    CROSS JOIN curve
),
{% else %}
domain AS MATERIALIZED (
    SELECT * FROM ranked
),

curve AS MATERIALIZED (
    SELECT pg_catalog.array_agg(share ORDER BY place) AS shares FROM domain
),
{% endif %}

member AS (
    SELECT
        {{ keys }}, n, share, place,
{% if ordered %}
        reach,
{% endif %}
        0 AS people
    FROM cell
    INNER JOIN domain ON {{ cell_key }} OPERATOR(pg_catalog.=) domain.key
{% if entity %}
    UNION ALL
    SELECT
        {{ keys }}, NULL, NULL, NULL,
{% if ordered %}
        NULL,
{% endif %}
        count(person)
    FROM (SELECT {{ keys }}, person FROM unit GROUP BY {{ keys }}, person) AS known
    GROUP BY {{ keys }}
{% endif %}
),

class AS MATERIALIZED (
    SELECT
        sum(n) AS size,
{% if entity %}
        greatest(1, sum(people))::double precision AS people,
{% else %}
        sum(n) AS people,
{% endif %}
        count(n) AS different,
        max(n) AS most,
        pg_catalog.ln(sum(n)) - sum(n * pg_catalog.ln(n)) / sum(n) AS entropy,
        max(n / share) / sum(n) AS highest_ratio,
        min(n / share) / sum(n) AS lowest_ratio,
        1 - sum(share) AS equal_low,
{% if ordered %}
        sum(n * place) / sum(n) AS mean,
        sum(n * reach) / sum(n) AS ordered_high,
{% endif %}
        pg_catalog.array_agg(place) FILTER (WHERE n IS NOT NULL) AS places,
        pg_catalog.array_agg(n) FILTER (WHERE n IS NOT NULL) AS counts
    FROM member
    GROUP BY {{ keys }}
),

bar AS MATERIALIZED (
    SELECT
{% if ordered %}
        max(abs(class.mean - curve.mean)) AS ordered,
{% endif %}
        max(equal_low) AS equal
    FROM class
{% if ordered %}
    CROSS JOIN curve
{% endif %}
),

candidate AS (
    SELECT places, counts, size
    FROM class
    WHERE 1 - 1 / highest_ratio > (SELECT equal FROM bar) + 1e-12
{% if ordered %}
        OR ordered_high > (SELECT ordered FROM bar) + 1e-12
{% endif %}
),

exact AS (
    SELECT
        max(equal) AS equal
{% if ordered %}
        , max(first_area + ordered) AS ordered
{% endif %}
    FROM candidate
    CROSS JOIN LATERAL (
        SELECT
            sum(greatest(0, n / size - (SELECT shares FROM curve)[place])) AS equal
{% if ordered %}
            , (SELECT areas FROM curve)[min(place)] AS first_area
            , sum(
                p * (2 * turn - here - there + 1)
                - 2 * (SELECT areas FROM curve)[turn + 1]
                + (SELECT areas FROM curve)[here]
                + (SELECT areas FROM curve)[there + 1]
            ) AS ordered
        FROM (
            SELECT
                place, n, p, here, there,
                greatest(here - 1, least(there, pg_catalog.width_bucket(p, (SELECT cumulatives FROM curve)))) AS turn
            FROM (
                SELECT
                    place,
                    n,
                    place AS here,
                    coalesce(lead(place) OVER (ORDER BY place) - 1, (SELECT places FROM curve) - 1) AS there,
                    sum(n) OVER (ORDER BY place) / size AS p
                FROM ROWS FROM (
                    pg_catalog.unnest(candidate.places), pg_catalog.unnest(candidate.counts)
                ) AS held (place, n)
            ) AS steps
        ) AS turns
{% else %}
        FROM ROWS FROM (
                    pg_catalog.unnest(candidate.places), pg_catalog.unnest(candidate.counts)
                ) AS held (place, n)
{% endif %}
    ) AS distance
)

SELECT
    min(different) AS distinct_l,
    exp(min(entropy)) AS entropy_l,
    min(people / most) AS frequency_l,
    greatest(0, max(bar.equal), max(exact.equal)) AS t_equal,
{% if ordered %}
    greatest(0, max(bar.ordered), max(exact.ordered)) / greatest(1, max(curve.places) - 1) AS t_ordered,
{% else %}
    NULL::double precision AS t_ordered,
{% endif %}
    greatest(0, max(pg_catalog.ln(highest_ratio)), -min(pg_catalog.ln(lowest_ratio))) AS delta_disclosure,
    greatest(0, max(highest_ratio) - 1) AS beta_likeness
FROM class
CROSS JOIN bar
CROSS JOIN exact
{% if ordered %}
CROSS JOIN curve
{% endif %}
