-- Locks the relations that the question of the current call may name.
SELECT kanon.hold_relations()::text AS done
