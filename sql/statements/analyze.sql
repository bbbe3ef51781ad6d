-- Fresh statistics for the planner.
ANALYZE {{ relation }}
