-- Stores the release: each node what it has of the base table, without a row that passes the coordinator.
-- $1 text
INSERT INTO {{ storage }}
{% include "distributed/masked_rows.sql" %}
