{# What a pair of a row type and a person adds to the checksum. #}
(pg_catalog.hash_record_extended(ROW({% for q in columns %}{{ q.hashed_pair }}, {% endfor %}{{ entity.hashed }}), {{ hash_seed }}) >> 32) * pairs.n
