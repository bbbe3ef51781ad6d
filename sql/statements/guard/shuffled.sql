{# Orders the rows of a query, each of which has another place among those of its class_hash, by chance that no session
   controls. A strong random number for each row would take a tenth of the time of a release; so three are drawn each
   time, and the places pass through a hash with each. #}
pg_catalog.hashfloat8extended(
    pg_catalog.hashfloat8extended(
        pg_catalog.hashfloat8extended(
            place, class_hash # (SELECT pg_catalog.uuid_hash_extended(pg_catalog.gen_random_uuid(), 0))
        )::double precision,
        (SELECT pg_catalog.uuid_hash_extended(pg_catalog.gen_random_uuid(), 0))
    )::double precision,
    (SELECT pg_catalog.uuid_hash_extended(pg_catalog.gen_random_uuid(), 0))
)
