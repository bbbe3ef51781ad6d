-- For each table that answers queries, what the record of answers about its people is like, and the account of noise; with the
-- caller's rights. Both are kept by the functions in the server, where these are installed.
CREATE OR REPLACE FUNCTION kanon.ledger_states()
RETURNS TABLE (relation regclass, problem text, remedy text, epsilon_left double precision, share_left double precision)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    accounts text := 'kanon.accounts AS a ON a.relation = s.relation AND a.login IS NULL';
BEGIN
    IF to_regclass('kanon.record_states') IS NULL OR NOT EXISTS (SELECT FROM kanon.protections) THEN
        RETURN;
    END IF;
    -- accounts cannot be read while a record is unusable
    BEGIN
        EXECUTE 'SELECT FROM kanon.accounts';
    EXCEPTION
        WHEN OTHERS THEN
            accounts := '(SELECT NULL::double precision AS epsilon_left, NULL::double precision AS share_left) AS a ON true';
    END;
    RETURN QUERY EXECUTE
        'SELECT p.relation, CASE WHEN l.child IS NOT NULL AND l.people IS NULL THEN ''Its links lead to nobody any more.'' '
        'ELSE s.problem END, coalesce(s.remedy, ''See kanon.links.''), a.epsilon_left, a.share_left '
        'FROM kanon.protections AS p LEFT JOIN kanon.links AS l ON l.child = p.relation '
        'LEFT JOIN kanon.record_states AS s ON s.relation::regclass = coalesce(l.people, p.relation) '
        'LEFT JOIN ' || accounts;
END
$function$;
COMMENT ON FUNCTION kanon.ledger_states IS 'What the records of answers and the accounts of noise are like; called by kanon.health.';
GRANT EXECUTE ON FUNCTION kanon.ledger_states TO kanon_owner, kanon_curator;
