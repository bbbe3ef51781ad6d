-- How many ledgers of queries there are.
SELECT count(*) AS ledgers FROM kanon.ledger
