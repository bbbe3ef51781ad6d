-- Stores the hierarchy of a table through the server's own function; its arguments are the parameters, in their order.
SELECT
    kanon_hierarchy_load(
{{ arguments }}
    ) AS version
