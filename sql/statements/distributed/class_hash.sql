{# A number for the class of a stored row, by its cells and pattern. #}
pg_catalog.hash_record_extended(ROW({% for q in columns %}{{ q.stored_hash }}, {% endfor %}s.kanon_pattern), 0)
