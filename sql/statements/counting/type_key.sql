{# The number by which a row type is known. #}
pg_catalog.hash_record_extended(ROW({% for q in columns %}{{ q.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), {{ hash_seed }})
