-- Does what nodes.sql does, but when the transaction ends: Citus sends nothing to other nodes of what the script of an
-- extension creates, and a member of the extension would need the extension there.
DO $later$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'citus') THEN
        EXECUTE pg_catalog.format(
            $commands$
                CREATE TEMPORARY TABLE %1$I (done boolean) ON COMMIT DROP;
                ALTER EXTENSION kanon_pg DROP TABLE pg_temp.%1$I;
                CREATE FUNCTION pg_temp.%1$I() RETURNS trigger LANGUAGE plpgsql AS $body$
                BEGIN
                    -- the transaction may have removed everything again
                    IF pg_catalog.to_regrole('kanon_owner') IS NOT NULL THEN
                        EXECUTE $run$
{% include "nodes.sql" %}

                        $run$;
                    END IF;
                    RETURN NULL;
                END
                $body$;
                ALTER EXTENSION kanon_pg DROP FUNCTION pg_temp.%1$I();
                CREATE CONSTRAINT TRIGGER later AFTER INSERT ON pg_temp.%1$I
                    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.%1$I();
                INSERT INTO pg_temp.%1$I VALUES (true);
            $commands$,
            'nodes_' || pg_catalog.gen_random_uuid()::text
        );
    END IF;
END
$later$
