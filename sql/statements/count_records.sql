-- How many records of queries there are.
SELECT count(*) AS records FROM kanon.ledger
