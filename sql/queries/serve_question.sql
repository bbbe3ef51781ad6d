-- Has the question of the current call served with the rights of the reading role.
SELECT kanon.serve_question()::text AS done
