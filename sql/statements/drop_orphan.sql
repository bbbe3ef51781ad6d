-- Drops a relation that no record names, unless something else uses it.
DROP {{ kind }} IF EXISTS {{ relation }}
