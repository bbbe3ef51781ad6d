-- Drops a relation that no record speaks of, unless something else uses it.
DROP {{ kind }} IF EXISTS {{ relation }}
