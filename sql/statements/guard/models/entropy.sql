{# The entropy of the values of a class is so high. #}
pg_catalog.ln(total) - sum(n * pg_catalog.ln(n)) / total >= {{ threshold }}
