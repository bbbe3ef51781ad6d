-- Members that are back before they could leave never left.
UPDATE {{ members }} AS m SET left_in = NULL, fingerprint = g.kanon_fingerprint
FROM {{ changes }} AS g
WHERE g.kanon_member = m.row_id AND g.kanon_row IS NOT NULL AND NOT m.erased
{% if not keep %}
    AND g.kanon_same
{% endif %}
