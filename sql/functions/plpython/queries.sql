-- Bodies in kanon_pg/plpython/queries.py.

CREATE OR REPLACE FUNCTION kanon.accounts()
RETURNS TABLE (
    relation text, login text, answers bigint, epsilon double precision, delta double precision,
    epsilon_spent double precision, epsilon_left double precision, delta_spent double precision,
    share_left double precision
)
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("queries.accounts()") }};
COMMENT ON FUNCTION kanon.accounts IS 'What noisy answers have revealed of people, and what may still be, by login and in total; called by the view of the same name.
Example: SELECT * FROM kanon.accounts() WHERE login IS NULL;';

CREATE OR REPLACE FUNCTION kanon.begin_record(relation regclass) RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("queries.restart_record(*args)") }};
COMMENT ON FUNCTION kanon.begin_record IS 'Begins a new record of answers; called by kanon.restart_record.';

CREATE OR REPLACE FUNCTION kanon.check_query(
    sql text, schemas name[], OUT accepted boolean, OUT findings jsonb, OUT canonical_sql text, OUT noise jsonb
)
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("queries.check_query(*args)") }};
COMMENT ON FUNCTION kanon.check_query IS 'Checks a query; called by kanon_check_query.';

CREATE OR REPLACE FUNCTION kanon.free_sets(relation regclass, entry bigint) RETURNS bigint
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("queries.forget_answer(*args)") }};
COMMENT ON FUNCTION kanon.free_sets IS 'Frees the sets of an answer; called by kanon.forget_answer.';

CREATE OR REPLACE FUNCTION kanon.protect({{ protect.inner_parameters }}) RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("queries.protect(*args)") }};
COMMENT ON FUNCTION kanon.protect IS 'Stores the rules under which a table answers queries; called by kanon_protect.';

-- Answers the blocks of a query, and returns what remains to be run with the caller's own rights: the rest, whose parameter $1
-- is the blocks' rows.
CREATE OR REPLACE FUNCTION kanon.read_blocks(
    sql text, parameters text[], schemas name[], OUT rest text, OUT rows jsonb, OUT notices text[]
)
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET client_min_messages = error
AS {{ python("queries.read_blocks(*args)") }};
COMMENT ON FUNCTION kanon.read_blocks IS 'Answers the parts of a query that are about people; called by kanon.answer_blocks.';

CREATE OR REPLACE FUNCTION kanon.read_query_log()
RETURNS TABLE (
    relation text, entry bigint, asked_at timestamptz, login text, role text, query text, parameters text[],
    outcome text, reason text, blocked_by bigint[], forgotten boolean
)
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("queries.query_log()") }};
COMMENT ON FUNCTION kanon.read_query_log IS 'Reads the log of queries; called by kanon.query_log.';

CREATE OR REPLACE FUNCTION kanon.record_states() RETURNS TABLE (relation text, ok boolean, problem text, remedy text)
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("queries.record_states()") }};
COMMENT ON FUNCTION kanon.record_states IS 'Whether each record of answers can be used; what is wrong and what to do; called by the view of the same name.
Example: SELECT * FROM kanon.record_states() WHERE NOT ok;';

CREATE OR REPLACE FUNCTION kanon.unprotect(relation regclass) RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("queries.unprotect(*args)") }};
COMMENT ON FUNCTION kanon.unprotect IS 'Removes the rules under which a table answers queries; called by kanon_unprotect.';

-- Who may use them.
GRANT EXECUTE ON FUNCTION
    kanon.accounts, kanon.begin_record, kanon.free_sets, kanon.protect, kanon.read_query_log, kanon.record_states, kanon.unprotect
TO kanon_curator;
GRANT EXECUTE ON FUNCTION kanon.check_query, kanon.read_blocks TO kanon_analyst;
