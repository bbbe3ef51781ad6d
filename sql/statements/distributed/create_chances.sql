-- Where the rows of divided row types stand among those of their types, collected from all nodes: two numbers for each.
CREATE TABLE {{ chances }} AS
SELECT divided.row_type, {% include "distributed/chance.sql" %} AS chance
FROM (
    {% include "distributed/base_rows.sql" %}
) AS base
INNER JOIN (SELECT row_type, min(seed) AS seed FROM {{ parts }} GROUP BY row_type) AS divided
    ON divided.row_type = {% include "guard/row_type.sql" %}
