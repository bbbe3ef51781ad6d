-- Stores the marks of the query of the current call.
SELECT kanon.keep_marks()::text AS done
