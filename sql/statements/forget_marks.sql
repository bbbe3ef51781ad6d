-- Forget earlier marks of a journal, unless another transaction has them: nobody waits for anybody.
-- $1 text
-- $2 bigint
DELETE FROM kanon.ledger_mark AS m
WHERE m.ctid = ANY(ARRAY(
    SELECT w.ctid
    FROM kanon.ledger_mark AS w
    WHERE w.name = $1::text AND w.records < $2::bigint
    ORDER BY w.records
    LIMIT 100
    FOR UPDATE SKIP LOCKED
))
