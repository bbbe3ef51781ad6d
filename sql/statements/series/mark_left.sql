-- Marks members that left with this version.
-- $1 bigint
UPDATE {{ members }} AS m SET left_in = $1::bigint
FROM {{ changes }} AS g
WHERE g.kanon_member = m.row_id AND m.left_in IS NULL
{% if keep %}
    AND g.kanon_row IS NULL
{% else %}
    AND g.kanon_same IS NOT TRUE
{% endif %}
