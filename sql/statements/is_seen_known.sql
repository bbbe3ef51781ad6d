-- Whether the table of a generalized column says which values rows had; IF NOT EXISTS would tell the caller.
-- $1 text
SELECT EXISTS (
    SELECT
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = $1::text::regclass AND a.attname = 'kanon_seen' AND NOT a.attisdropped
) AS is_so
