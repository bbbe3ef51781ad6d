-- The table behind a release whose rows are on all nodes, empty; Citus distributes it next.
CREATE TABLE {{ storage }} AS
{% include "distributed/masked_rows.sql" %}

WITH NO DATA
