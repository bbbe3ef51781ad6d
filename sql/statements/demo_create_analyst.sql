-- Makes sure of the demo's analyst: a login with nothing but the analyst role.
DO $demo$
BEGIN
    IF pg_catalog.to_regrole('{{ role }}') IS NULL THEN
        CREATE ROLE {{ role }} LOGIN;
    END IF;
    GRANT kanon_analyst TO {{ role }};
END
$demo$
