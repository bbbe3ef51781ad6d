-- The server's clock, in seconds since 1970.
SELECT extract(EPOCH FROM pg_catalog.clock_timestamp())::double precision AS seconds
