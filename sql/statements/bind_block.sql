{# The block of bind_values: values take the column's type and its one spelling, nodes the published type. JSON makes values of
   texts by the input functions of types, never by casts, which others may have made. What a cell
   costs is the share of the values that its node stands for, unless each level has one cost. #}
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
        SELECT
            typed.value,
            {{ value_as_node }} AS {{ nodes[0].name }}
{% for node in nodes[1:] %}
            , typed.nodes[{{ loop.index }}]::{{ published }} AS {{ node.name }}
{% endfor %}
        FROM (
            SELECT spelled.value, source.nodes
            FROM ({{ source }}) AS source
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
