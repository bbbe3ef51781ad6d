-- The only way to what is stored on the nodes: Citus reads there with the rights of whoever asks, which inside this function is
-- the owner. Nobody else may name it, because nobody may use its schema; the view of the release does. The shards of a table
-- hold people by the hash of who they are, so rows are not shown in the order in which shards answer; nor is what Citus
-- tells of its work (citus.log_remote_commands, messages for debugging). The default of its argument, which nobody uses, makes it,
-- and so the view, depend on the columns that are published, as the view of a single server does; were they named in the
-- view, Citus would take the function for one of the table, and create it on all nodes when the table is altered.
CREATE FUNCTION {{ reader }}(
    base boolean DEFAULT ROW({% for c in read %}(NULL::{{ base }}).{{ c }}{% if not loop.last %}, {% endif %}{% endfor %}) IS NULL
) RETURNS TABLE (
{% for c in stored %}
    {{ c.output }} {{ c.type }},
{% endfor %}
    kanon_pattern bigint
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning
AS {{ body }}
