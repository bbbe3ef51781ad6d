-- The only way to what is stored on the nodes: Citus reads there with the rights of whoever asks, which inside this function is
-- the owner. Nobody else may name it, because nobody may use its schema; the view of the release does. The shards of a table
-- hold people by the hash of who they are, so rows are not shown in the order in which shards answer.
CREATE FUNCTION {{ reader }}() RETURNS TABLE (
{% for c in stored %}
    {{ c.output }} {{ c.type }},
{% endfor %}
    kanon_pattern bigint
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS {{ body }}
