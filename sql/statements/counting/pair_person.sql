{# The number by which the person of a pair is known, NULL for nobody known. #}
CASE WHEN pairs.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) END