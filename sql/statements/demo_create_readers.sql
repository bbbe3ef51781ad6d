-- Makes sure of the demo's two readers: a login without any right, and one with nothing but the analyst role.
DO $demo$
BEGIN
    IF pg_catalog.to_regrole('{{ reader }}') IS NULL THEN
        CREATE ROLE {{ reader }} LOGIN;
    END IF;
    IF pg_catalog.to_regrole('{{ analyst }}') IS NULL THEN
        CREATE ROLE {{ analyst }} LOGIN;
    END IF;
    GRANT kanon_analyst TO {{ analyst }};
END
$demo$
