{# Classes in which one sensitive column satisfies the privacy models, counted in rows or in people. The values of
   the column are numbered in order. #}
{% if j.of_people %}
{{ j.unit }} AS MATERIALIZED (
    SELECT class, people, person, pg_catalog.dense_rank() OVER (ORDER BY value) AS place
    FROM (
        SELECT class, people, {{ j.value }} AS value, person
        FROM counted
        GROUP BY class, people, {{ j.value }}, person
    ) AS held
),

{{ j.cell }} AS (
    SELECT
        class,
        greatest(1, people) AS size,
        place,
        greatest(1, count(person))::double precision AS n,
        sum(greatest(1, count(person))::double precision) OVER (PARTITION BY class) AS total
    FROM {{ j.unit }}
    GROUP BY class, people, place
),
{% else %}
{{ j.cell }} AS (
    SELECT
        class,
        size,
        pg_catalog.dense_rank() OVER (ORDER BY value) AS place,
        n,
        size::double precision AS total
    FROM (
        SELECT class, size, {{ j.value }} AS value, count(*)::double precision AS n
        FROM counted
        GROUP BY class, size, {{ j.value }}
    ) AS held
),
{% endif %}

{% if models.of_whole %}
{{ j.whole }} AS MATERIALIZED (
    SELECT
        place,
        n / sum(n) OVER () AS share,
        sum(n) OVER (ORDER BY place) / sum(n) OVER () AS cumulative
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
    SELECT
        count(*)::integer AS places,
        pg_catalog.array_agg(cumulative ORDER BY place) AS cumulatives,
        pg_catalog.array_prepend(0::double precision, pg_catalog.array_agg(area ORDER BY place)) AS areas
    FROM (SELECT *, sum(cumulative) OVER (ORDER BY place) AS area FROM {{ j.whole }}) AS summed
),

-- From one value of a class to its next, up to `last`, the class's cumulated share is p; that of the whole
-- table rises and passes it after `turn`.
{{ j.step }} AS (
    SELECT
        *,
        greatest(place - 1, least(last, pg_catalog.width_bucket(p, (SELECT c.cumulatives FROM {{ j.curve }} AS c)))) AS turn
    FROM (
        SELECT
            class,
            size,
            total,
            n,
            place::integer AS place,
            sum(n) OVER by_place / total AS p,
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
{% include "guard/models/" ~ condition.model ~ ".sql" %}
{% if not loop.last %}

        AND {% endif %}
{% endfor %}

),
