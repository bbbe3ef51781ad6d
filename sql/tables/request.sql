-- Who calls an API function. Inside a definer function the caller's own role is out of sight, and the login is
-- not it: maintenance by a superuser runs the code of a table's owner with that owner's rights only. So the API
-- functions, which run with the caller's rights, add a row whose defaults nobody can choose. A trigger of the table would
-- run with these rights, too: the table is made anew each time, with nothing that others added.
DROP TABLE IF EXISTS kanon.request CASCADE;
CREATE TABLE kanon.request (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operation text NOT NULL,
    role name NOT NULL DEFAULT current_user,
    transaction xid8 NOT NULL DEFAULT pg_catalog.pg_current_xact_id()
);
ALTER TABLE kanon.request OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.request FROM PUBLIC;
GRANT SELECT, DELETE ON TABLE kanon.request TO kanon_owner;
COMMENT ON TABLE kanon.request IS 'Calls that are being served; empty between transactions.';
COMMENT ON COLUMN kanon.request.number IS 'Order of the calls.';
COMMENT ON COLUMN kanon.request.operation IS 'What was called; the only column that callers may set.';
COMMENT ON COLUMN kanon.request.role IS 'Whose rights count.';
COMMENT ON COLUMN kanon.request.transaction IS 'The transaction of the call; a row is good for no other.';
GRANT INSERT (operation) ON TABLE kanon.request TO kanon_curator;
