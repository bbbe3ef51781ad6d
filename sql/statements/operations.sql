-- name: take_request(text): The role that called the API function which is being served, no row if none was called in this
-- transaction.
WITH taken AS (DELETE FROM kanon.request WHERE transaction = pg_catalog.pg_current_xact_id() RETURNING number, operation, role)
SELECT role::text AS role FROM taken WHERE operation = $1::text ORDER BY number DESC LIMIT 1

-- name: call_anonymize(): Publishes a release through the server's own function; its arguments are the parameters, in their order.
SELECT r.release, r.k, r.rows, r.people, r.row_types, r.classes, r.smallest_class, r.average_class, r.largest_class,
    r.suppressed_cells, r.suppressed_share, r.weighted_cost, r.lower_bound, r.gap, r.optimal, r.method,
    r.bound_method, r.usefulness, extract(EPOCH FROM r.elapsed)::double precision AS elapsed, r.termination
FROM {{ function }}({{ arguments }}) AS r

-- name: call_answer_blocks(text, text[]): Answers the blocks of a query.
SELECT b.rest, b.rows::text AS rows, b.notices FROM kanon.answer_blocks($1, $2::text[], pg_catalog.current_schemas(false)) AS b

-- name: call_by_name(text): Calls a function in the server that takes the name of a release, hierarchy or table and returns nothing.
SELECT {{ function }}($1::text)::text AS done

-- name: call_certificate(): Writes a certificate through the server's own function; its arguments are the parameters, in their order.
SELECT {{ function }}({{ arguments }})::text AS certificate

-- name: call_check_query(text): Checks a query without running it.
SELECT accepted, findings::text AS findings, canonical_sql, noise::text AS noise FROM {{ function }}($1)

-- name: call_composition(): Compares releases through the server's own function; its arguments are the parameters, in their order.
SELECT releases, k, people, smallest, average, people_below, unseen_rows FROM {{ function }}({{ arguments }})

-- name: call_declare(): Declares the roles of columns through the server's own function; its arguments are the parameters, in
-- their order.
SELECT {{ function }}({{ arguments }})::text AS done

-- name: call_hierarchy_build(): Builds a hierarchy over a column through the server's own function; its arguments are the
-- parameters, in their order.
SELECT {{ function }}({{ arguments }}) AS version

-- name: call_hierarchy_define(): Stores a hierarchy through the server's own function; its arguments are the parameters, in their
-- order.
SELECT {{ function }}({{ arguments }}) AS version

-- name: call_hierarchy_load(): Stores the hierarchy of a table through the server's own function; its arguments are the
-- parameters, in their order.
SELECT {{ function }}({{ arguments }}) AS version

-- name: call_hierarchy_missing(): The values that a hierarchy lacks through the server's own function; its arguments are the
-- parameters, in their order.
SELECT value, rows FROM {{ function }}({{ arguments }})

-- name: call_hierarchy_values(text): The values of a hierarchy through the server's own function.
SELECT value, nodes FROM {{ function }}($1::text)

-- name: call_link(): Links a table through the server's own function; its arguments are the parameters, in their order.
SELECT {{ function }}({{ arguments }})::text AS done

-- name: call_release_report(): Reports about a release through the server's own function; its arguments are the parameters, in
-- their order.
SELECT {{ function }}({{ arguments }})::text AS report

-- name: call_protect(): Protects a table through the server's own function; its arguments are the parameters, in their order.
SELECT {{ function }}({{ arguments }})::text AS done

-- name: call_erase(text, text[]): Erases a person from a release through the server's own function.
SELECT {{ function }}($1::text, $2::text[])::text AS done

-- name: set_progress_notices(): Makes the server's functions report their progress as notices, in this session.
SELECT pg_catalog.set_config('kanon.progress', 'on', false) AS progress

-- name: show_progress(text): Shows a progress text to other sessions at once, in the open transaction; returns the text before.
SELECT before, pg_catalog.set_config('application_name', $1::text, false) AS shown
FROM (SELECT pg_catalog.current_setting('application_name') AS before OFFSET 0) AS old
