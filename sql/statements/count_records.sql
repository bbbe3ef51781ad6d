-- How many records of answers there are.
SELECT count(*) AS records FROM kanon.record
