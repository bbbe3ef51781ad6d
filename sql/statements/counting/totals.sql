{# The figures of all row types together. #}
totals.types,
    totals.bytes,
{% if quasi_identifiers %}
    (
        SELECT count(*)
        FROM (
            SELECT 1 AS one FROM types
            GROUP BY {% for q in quasi_identifiers %}{{ q }}{% if not loop.last %}, {% endif %}{% endfor %}

        ) AS tuple
    ) AS tuples,
{% else %}
    totals.types AS tuples,
{% endif %}
    totals.n AS rows
