-- Drops a role on the workers of Citus, where no database uses it, but not on the coordinator, where one does. What Citus drops
-- on workers it drops by name, so here another role has the name meanwhile. Until the transaction ends nobody sees that.
DO $elsewhere$
DECLARE
    ours CONSTANT oid := (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = {{ label }});
BEGIN
    -- Citus never brought it to the workers
    IF NOT EXISTS (
        SELECT FROM pg_catalog.pg_dist_object AS o
        WHERE o.classid = 'pg_catalog.pg_authid'::regclass AND o.objid = ours
    ) THEN
        RETURN;
    END IF;
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true);
    ALTER ROLE {{ role }} RENAME TO kanon_role_here;
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'on', true);
    CREATE ROLE {{ role }};
    DROP ROLE {{ role }};
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true);
    ALTER ROLE kanon_role_here RENAME TO {{ role }};
    IF {{ label }} ~ '^kanon_(owner|base_[0-9]+)$' THEN
        ALTER ROLE {{ role }} NOLOGIN;
    END IF;
    PERFORM pg_catalog.citus_unmark_object_distributed('pg_catalog.pg_authid'::regclass, ours, 0, false);
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'on', true);
END
$elsewhere$
