{# The functions that users call, in whichever schema. Whoever installed may have own functions of these names, without
   an example. #}
    SELECT f.oid
    FROM pg_catalog.pg_proc AS f
    WHERE
        -- where the schema is gone, whoever removes the rest must own it
        f.proowner = coalesce(
            (SELECT n.nspowner FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'kanon'),
            (SELECT u.oid FROM pg_catalog.pg_roles AS u WHERE u.rolname = CURRENT_USER)
        )
        AND pg_catalog.obj_description(f.oid, 'pg_proc') LIKE E'%\nExample: %'
        AND f.proname IN (
            'kanon_anonymize', 'kanon_audit', 'kanon_certificate', 'kanon_check_query',
            'kanon_composition', 'kanon_curve', 'kanon_declare', 'kanon_drop', 'kanon_erase',
            'kanon_groups', 'kanon_help', 'kanon_hierarchy_build', 'kanon_hierarchy_define',
            'kanon_hierarchy_drop', 'kanon_hierarchy_load', 'kanon_hierarchy_show',
            'kanon_hierarchy_values', 'kanon_identify', 'kanon_install_check', 'kanon_intervals',
            'kanon_is_anonymous', 'kanon_link', 'kanon_measure', 'kanon_protect', 'kanon_query',
            'kanon_query_record', 'kanon_rectangles', 'kanon_refresh', 'kanon_regions',
            'kanon_risk', 'kanon_suggest', 'kanon_undeclare', 'kanon_unlink', 'kanon_unprotect', 'kanon_version'
        )
