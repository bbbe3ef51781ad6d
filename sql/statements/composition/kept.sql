{# The classes of a version that was remembered. Of who was erased it is known only that there were rows. #}
    SELECT v.row_id, v.person, v.class, true AS is_known, false AS is_assumed, 1::bigint AS rows FROM {{ version }} AS v
    UNION ALL
    SELECT NULL, NULL, NULL, false, false, {{ erased }}::bigint
