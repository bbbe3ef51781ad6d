-- Declares the roles of columns through the server's own function; its arguments are the parameters, in their order.
SELECT
    kanon_declare(
{{ arguments }}
    )::text AS done
