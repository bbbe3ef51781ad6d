-- The text of a rule, for those who may read its relation.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_ruledef(object oid, pretty boolean DEFAULT false)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_ruledef(object, pretty)
    WHERE EXISTS (SELECT FROM kanon_catalog.pg_rewrite AS c WHERE c.oid = object AND c.ev_action IS NOT NULL);
END;
ALTER FUNCTION kanon_catalog.pg_get_ruledef OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_ruledef FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_ruledef TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_ruledef IS
'Stands for pg_catalog.pg_get_ruledef where tools ask through the gateway.';
