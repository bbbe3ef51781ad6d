{# The class of each row that a storage shows which says which row is which. What every version of a release over time
   tells are the cohorts that entered together: they part rows of one class. #}
    SELECT
        s.kanon_row AS row_id,
        {% if by_person %}s.kanon_person{% else %}s.kanon_row{% endif %} AS person,
        pg_catalog.hash_record_extended(
            ROW({% for c in cells %}{{ c.hashed }}, {% endfor %}s.kanon_pattern{% if cohorts %}, entered.entered{% endif %}), 0
        ) AS class
    FROM {{ storage }} AS s
{% if cohorts %}
    INNER JOIN {{ members }} AS m ON m.row_id = s.kanon_row
    INNER JOIN {{ cohorts }} AS entered ON entered.cohort = m.cohort
{% endif %}
