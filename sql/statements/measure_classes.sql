-- Counts the equivalence classes of a relation in one pass over it.
--
-- Grouping sets: all keys together (a group is a class), each categorical quasi-identifier alone (a
-- group is a published value), the person alone. `whole` tells the classes from the other groups; it
-- looks at two keys because GROUPING() takes no more than 31.
WITH source AS NOT MATERIALIZED (
    SELECT
{% for q in columns %}
        {{ q.column }} AS {{ q.alias }},
{% if suppressed and q.categorical %}
        {{ q.label }}::name OPERATOR(pg_catalog.=) ANY ({{ suppressed }}) AS {{ q.hidden }},
{% endif %}
{% endfor %}
{% if suppressed %}
        {{ suppressed }} AS suppressed,
{% endif %}
        {% if entity %}{{ entity }}{% else %}NULL{% endif %} AS person
    FROM {{ relation }}
),

{% if on_nodes %}
-- Citus has no grouping sets. Its nodes count the classes, for good those of people that are on one node; only classes travel.
unit AS MATERIALIZED (
{% if entity %}
    SELECT {{ keys }}, sum(n)::bigint AS n, sum(somebody)::bigint AS people
    FROM (
        SELECT {{ keys }}, person, count(*) AS n, (person IS NOT NULL)::integer AS somebody
        FROM source
        GROUP BY {{ keys }}, person
    ) AS held
    GROUP BY {{ keys }}
{% else %}
    SELECT {{ keys }}, count(*) AS n, count(*) AS people
    FROM source
    GROUP BY {{ keys }}
{% endif %}
),

{% if entity %}
everybody AS MATERIALIZED (
    SELECT count(DISTINCT person) AS people FROM source
),

{% endif %}
{% elif entity %}
unit AS (
    SELECT {{ keys }}, person, count(*) AS n
    FROM source
    GROUP BY {{ keys }}, person
),

{% endif %}
grouped AS (
    SELECT
        {{ keys }},
{% for q in columns %}
{% if q.categorical %}
        GROUPING({{ q.alias }}) = 0 AS {{ q.present }},
{% if suppressed %}
        {{ q.hidden }},
{% endif %}
{% endif %}
{% endfor %}
        GROUPING({{ marks }}) = 0 AS whole,
{% if on_nodes %}
        sum(n) AS row_count,
        sum(greatest(1, people))::bigint AS people
    FROM unit
{% elif entity %}
        GROUPING(person) = 0 AND person IS NOT NULL AS somebody,
        sum(n) AS row_count,
        greatest(1, count(person)) AS people
    FROM unit
{% else %}
        count(*) AS row_count,
        count(*) AS people
    FROM source
{% endif %}
    GROUP BY GROUPING SETS (
        ({{ keys }})
{% if separate %}
{% for q in columns %}
{% if q.categorical %}
        , ({{ q.alias }}{% if suppressed %}, {{ q.hidden }}{% endif %})
{% endif %}
{% endfor %}
{% endif %}
{% if entity and not on_nodes %}
        , (person)
{% endif %}
    )
)

SELECT
    count(*) FILTER (WHERE whole) AS classes,
    coalesce(sum(row_count) FILTER (WHERE whole), 0)::bigint AS rows,
{% if entity and on_nodes %}
    greatest(1, (SELECT e.people FROM everybody AS e)) AS people,
{% elif entity %}
    greatest(1, count(*) FILTER (WHERE somebody)) AS people,
{% else %}
    coalesce(sum(row_count) FILTER (WHERE whole), 0)::bigint AS people,
{% endif %}
    coalesce(sum(people) FILTER (WHERE whole), 0)::bigint AS memberships,
    min(people) FILTER (WHERE whole) AS smallest,
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
    , count(*) FILTER (
        WHERE whole AND ({{ q.high }} = 'Infinity' OR {{ q.low }} = '-Infinity')
    ) AS {{ q.unbounded }}
{% endif %}
{% endfor %}
FROM grouped
