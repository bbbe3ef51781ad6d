{# The classes of a version that was remembered. #}
    SELECT v.row_id, v.person, v.class, true AS is_known, false AS is_assumed, 1::bigint AS rows FROM {{ version }} AS v
