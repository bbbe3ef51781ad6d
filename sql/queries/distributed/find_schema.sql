-- Whether there is the schema for what releases store on all nodes.
SELECT pg_catalog.to_regnamespace('kanon_shards') IS NOT NULL AS found
