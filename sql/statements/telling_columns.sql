-- How well one column of a pair tells the other, in a random sample of the rows, one for each person: of the rows that are not the only ones
-- with their value (others), how many have the value of the other column that is the most frequent beside it (told); and
-- how many have the most frequent one of all (guessed).
WITH sample AS MATERIALIZED (
    SELECT{% if entity %} DISTINCT ON (r.{{ entity }}){% endif %}{% for c in columns %} {{ c.seen }} AS {{ c.alias }}{% if not loop.last %},{% endif %}{% endfor %}

    FROM {{ relation }} AS r
    WHERE pg_catalog.random() < {{ share }}
    LIMIT {{ rows }}
)

{% for p in pairs %}
SELECT
    {{ p.number }} AS number,
    coalesce(sum(told - 1) FILTER (WHERE n > 1), 0)::bigint AS told,
    coalesce(sum(n - 1) FILTER (WHERE n > 1), 0)::bigint AS others,
    (SELECT coalesce(max(size), 0) FROM (SELECT count(*) AS size FROM sample GROUP BY {{ p.other }}) AS alone)::bigint AS guessed,
    coalesce(sum(n), 0)::bigint AS rows
FROM (
    SELECT max(n) AS told, sum(n) AS n
    FROM (SELECT {{ p.one }}, {{ p.other }}, count(*) AS n FROM sample GROUP BY {{ p.one }}, {{ p.other }}) AS pair
    GROUP BY {{ p.one }}
) AS each_value
{% if not loop.last %}
UNION ALL
{% endif %}
{% endfor %}
