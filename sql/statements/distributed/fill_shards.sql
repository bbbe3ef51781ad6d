-- Stores the release: each node what it has of the base table, without a row that passes the coordinator. So the rows
-- are ordered in a subquery, by each node: Citus would bring those of a statement that orders them to one place.
-- $1 text
INSERT INTO {{ storage }}
SELECT stored.*
FROM (
{% include "distributed/masked_rows.sql" %}

) AS stored
