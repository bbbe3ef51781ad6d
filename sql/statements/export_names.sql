{# An array of names as a JSON array of strings. -#}
pg_catalog.to_json({{ column }})::text
