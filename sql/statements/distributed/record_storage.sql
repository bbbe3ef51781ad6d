-- Records where the rows of a release are now.
-- $1 text
-- $2 text
UPDATE kanon.release SET storage = $2::text::regclass WHERE name = $1::text
