-- Records a release: an object of columns of kanon.release.
-- $1 text
INSERT INTO kanon.release
SELECT r.*
FROM pg_catalog.jsonb_populate_record(
    NULL::kanon.release, $1::text::jsonb || pg_catalog.jsonb_build_object('published_at', pg_catalog.now())
) AS r
