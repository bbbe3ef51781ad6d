{# The same number from a pair of a row type and a person. #}
pg_catalog.hash_record_extended(ROW({% for q in columns %}{{ q.hashed_pair }}{% if not loop.last %}, {% endif %}{% endfor %}), {{ hash_seed }})
