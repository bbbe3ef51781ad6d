-- Which nodes of Citus the current role can log in to from here, and the state of the schema that only the owner role may use:
-- closed, open, missing; the coordinator first.
WITH here (state) AS (
{% include "distributed/schema_state.sql" %}

)

SELECT 'the coordinator' AS node, true AS success, here.state FROM here
UNION ALL
SELECT w.nodename || ':' || w.nodeport, w.success, CASE WHEN w.success THEN w.result END
FROM pg_catalog.run_command_on_workers($ask$
{% include "distributed/schema_state.sql" %}

$ask$) AS w
