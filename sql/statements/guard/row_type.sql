pg_catalog.hash_record_extended(
            ROW({% for q in columns + model_columns %}{{ q.base_hash }}{% if not loop.last %}, {% endif %}{% endfor %}), {{ hash_seed }}
        )