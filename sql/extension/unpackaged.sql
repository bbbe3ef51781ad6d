-- Version "unpackaged" stands for the objects that `kanon install` made, of whichever version. Updating from it makes
-- them members.
DO $unpackaged$
BEGIN
{% include "extension/encoding" %}
    IF pg_catalog.to_regclass('kanon.version') IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'KA500',
            MESSAGE = 'kanon: This database has no kanon that the extension could take over.',
            HINT = 'CREATE EXTENSION kanon_pg CASCADE;';
    END IF;
    RAISE WARNING 'kanon: Nothing has changed yet. The next step: ALTER EXTENSION kanon_pg UPDATE;';
END
$unpackaged$;
