-- Where the function kanon_install_check is, if the server has it.
SELECT n.nspname::text AS schema
FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
WHERE p.proname = 'kanon_install_check' AND p.pronargs = 0 AND p.oid IN (
{% include "called_functions.sql" %}

)
