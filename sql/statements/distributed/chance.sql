{# Where a row of a divided row type stands among those of its type: chance with a secret seed, as in guard/assigned.sql; rows that look alike are
   told apart by where they are stored. #}
(pg_catalog.hash_record_extended(ROW(pg_catalog.int8send(pg_catalog.hash_record_extended(
            ROW({% for c in carried %}{{ c.looks.base }}{% if not loop.last %}, {% endif %}{% endfor %}), {{ row_seed }}
        ))), {{ row_seed }}) & -4294967296)
        | (pg_catalog.hashtextextended(base.kanon_at, {{ row_seed }}) & 4294967295)
