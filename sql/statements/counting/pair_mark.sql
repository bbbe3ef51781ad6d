{# What a pair of a row type and a person adds to the checksum. #}
(pg_catalog.hash_record_extended(
                ROW({% include "counting/pair_key.sql" %}, {% include "counting/pair_person.sql" %}), {{ hash_seed }}
            ) >> 32) * pairs.n