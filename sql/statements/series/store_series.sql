-- Records a release over time that starts: an object of columns of kanon.series.
-- $1 text
INSERT INTO kanon.series
SELECT s.* FROM pg_catalog.jsonb_populate_record(NULL::kanon.series, $1::text::jsonb) AS s
