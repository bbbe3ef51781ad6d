-- What the output function of a type gives, under settings of our own: for types of extensions, of which nobody here
-- knows which settings change their text. Setting them costs 3 microseconds for each value. Whoever evaluates a
-- release calls it, and it does nothing but that, so everybody may.
CREATE OR REPLACE FUNCTION kanon.spelled(value anyelement) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET "TimeZone" = 'UTC' SET "DateStyle" = 'ISO, MDY' SET "IntervalStyle" = 'postgres' SET extra_float_digits = 1
SET bytea_output = 'hex' SET lc_monetary = 'C' SET array_nulls = on SET quote_all_identifiers = off
AS $function$
BEGIN
    -- not a cast, which the owner of a type may have made
    RETURN pg_catalog.format('%s', spelled.value);
END
$function$;
COMMENT ON FUNCTION kanon.spelled IS 'The text of a value, the same whatever the session has set.';
GRANT EXECUTE ON FUNCTION kanon.spelled TO PUBLIC;
