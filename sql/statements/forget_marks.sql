-- Forget earlier marks of a record, unless another transaction has them: nobody waits for anybody.
-- $1 text
-- $2 bigint
DELETE FROM kanon.record_mark AS m
WHERE m.ctid = ANY(ARRAY(
    SELECT w.ctid
    FROM kanon.record_mark AS w
    WHERE w.name = $1::text AND w.events < $2::bigint
    ORDER BY w.events
    LIMIT 100
    FOR UPDATE SKIP LOCKED
))
