-- Drops the table of divided row types behind a release.
DROP TABLE IF EXISTS {{ parts }}
