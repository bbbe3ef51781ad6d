-- Removes the schemas, then every right that the roles were lent in this database. What belongs to the
-- roles outside the schemas is not ours: it goes to the role that uninstalls. Any of it may be missing.
DROP SCHEMA IF EXISTS kanon_catalog CASCADE;
DROP SCHEMA IF EXISTS safe CASCADE;
DROP SCHEMA IF EXISTS kanon CASCADE;

DO $roles$
DECLARE
    ours text;
BEGIN
    SELECT pg_catalog.string_agg(pg_catalog.quote_ident(r.rolname), ', ') INTO ours
    FROM pg_catalog.pg_roles AS r
    WHERE r.rolname IN ('kanon_owner', 'kanon_reader', 'kanon_curator', 'kanon_analyst');
    IF ours IS NOT NULL THEN
        EXECUTE pg_catalog.format('REASSIGN OWNED BY %s TO CURRENT_USER', ours);
        EXECUTE pg_catalog.format('DROP OWNED BY %s', ours);
    END IF;
END
$roles$;
