-- The rows that enter a release over time together: all of a first version, or those of one origin.
CREATE TABLE {{ entering }} AS
SELECT {% for c in columns %}c.{{ c }}, {% endfor %}c.kanon_row, c.kanon_fingerprint
FROM {{ source }} AS c
{% if pending %}
INNER JOIN {{ pending }} AS p ON p.row_id = c.kanon_row AND p.origin = {{ origin }}
{% endif %}
