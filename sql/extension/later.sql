-- Does what counting.sql and nodes.sql do, but when the transaction ends. Inside the script of an extension, PostgreSQL
-- would keep a right on a parameter as an initial one of the extension. As it belongs to no object of this database, nothing ever
-- removes that record again, and from PostgreSQL 17 on neither DROP OWNED nor DROP ROLE works for the role any more. And Citus
-- sends nothing to other nodes of what such a script creates; a member of the extension would need the extension there.
-- A trigger of a temporary table waits for the end; the table goes with the transaction, the function with the session.
DO $later$
BEGIN
    EXECUTE pg_catalog.format(
        $commands$
            CREATE TEMPORARY TABLE %1$I (done boolean) ON COMMIT DROP;
            ALTER EXTENSION kanon_pg DROP TABLE pg_temp.%1$I;
            CREATE FUNCTION pg_temp.%1$I() RETURNS trigger LANGUAGE plpgsql AS $body$
            BEGIN
                -- the transaction may have removed everything again
                IF pg_catalog.to_regrole('kanon_owner') IS NOT NULL THEN
                    EXECUTE $counted$
{% include "counting" %}
                    $counted$;
                    EXECUTE $stored$
{% include "nodes" %}
                    $stored$;
                END IF;
                RETURN NULL;
            END
            $body$;
            ALTER EXTENSION kanon_pg DROP FUNCTION pg_temp.%1$I();
            CREATE CONSTRAINT TRIGGER later AFTER INSERT ON pg_temp.%1$I
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.%1$I();
            INSERT INTO pg_temp.%1$I VALUES (true);
        $commands$,
        -- a name that no earlier installation of this session has left
        'later_' || pg_catalog.gen_random_uuid()::text
    );
END
$later$
