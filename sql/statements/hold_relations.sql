-- Locks the relations that the query of the current call may name.
SELECT kanon.hold_relations()::text AS done
