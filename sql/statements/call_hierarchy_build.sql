-- Builds a hierarchy over a column through the server's own function; its arguments are the parameters, in their order.
SELECT
    kanon_hierarchy_build(
{{ arguments }}
    ) AS version
