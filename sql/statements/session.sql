-- name: session_path(): The schemas that the session tries for names without one.
SELECT pg_catalog.current_schemas(false)::text[] AS path, SESSION_USER::text AS login

-- name: session_settings(): What the session asked for.
SELECT lower(coalesce(pg_catalog.current_setting('kanon.progress', true), '')) AS progress,
    coalesce(pg_catalog.current_setting('kanon.memory_budget', true), '') AS memory_budget,
    -- on Citus: whether what is created is created on all nodes
    coalesce(pg_catalog.current_setting('citus.enable_ddl_propagation', true), '') AS propagation,
    pg_catalog.getdatabaseencoding()::text AS encoding

-- name: set_locally(text, text): Sets a parameter until the end of the transaction; returns the value before.
SELECT before, pg_catalog.set_config($1::text, $2::text, true) AS after
FROM (SELECT pg_catalog.current_setting($1::text) AS before OFFSET 0) AS old

-- name: act_as(): Takes the rights of a role until the end of the transaction.
SET LOCAL ROLE {{ role }}

-- name: caller(): Whose rights count; not for definer functions, where it would be their owner.
SELECT CURRENT_USER::text AS role

-- name: can_log_in(text): Whether a role may log in.
SELECT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname = $1::text AND r.rolcanlogin) AS can_log_in

-- name: may_read_as(integer): Whether the role may have a reader run a statement.
SELECT pg_catalog.has_function_privilege(
    pg_catalog.format('kanon.read_rows_%s(text, text[])', $1::integer), 'EXECUTE'
) AS may_read

-- name: load_packed(): Unpacks buffers of 64-bit big-endian numbers, one parameter per column, into a table.
INSERT INTO {{ table }} (
{%- for column in columns %}{{ column.name }}{% if not loop.last %}, {% endif %}{% endfor -%}
)
SELECT
{% for column in columns %}
    ('x' || pg_catalog.encode(pg_catalog.substr(${{ column.number }}, 8 * i + 1, 8), 'hex'))::bit(64)::bigint
    {%- if not loop.last %},{% endif %}
{% endfor %}
FROM pg_catalog.generate_series(0, pg_catalog.length($1) / 8 - 1) AS i

-- name: statement_timeout_passed(): Says whether the client's statement has run for longer than statement_timeout allows.
SELECT
    timeout.allowed > interval '0' AND pg_catalog.clock_timestamp() - pg_catalog.statement_timestamp() > timeout.allowed AS passed
FROM (SELECT pg_catalog.current_setting('statement_timeout')::interval AS allowed) AS timeout
