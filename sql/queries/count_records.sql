-- How many records of questions there are.
SELECT count(*) AS records FROM kanon.ledger
