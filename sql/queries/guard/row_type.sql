pg_catalog.hash_record_extended(
            ROW({% for q in columns + judged %}{{ q.base_hash }}{% if not loop.last %}, {% endif %}{% endfor %}), {{ hash_seed }}
        )