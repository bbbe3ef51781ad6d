-- Stores a hierarchy through the server's own function; its arguments are the parameters, in their order.
SELECT
    kanon_hierarchy_define(
{{ arguments }}
    ) AS version
