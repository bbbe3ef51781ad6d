-- Writes a certificate through the server's own function; its arguments are the parameters, in their order.
SELECT
    kanon_certificate(
{{ arguments }}
    )::text AS certificate
