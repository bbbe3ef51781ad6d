-- Names of all releases.
SELECT r.name AS release FROM kanon.release AS r ORDER BY r.name
