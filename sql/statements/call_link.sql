-- Links a table through the server's own function; its arguments are the parameters, in their order.
SELECT
    kanon_link(
{{ arguments }}
    )::text AS done
