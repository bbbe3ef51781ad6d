-- Forgets cohorts of which everybody left.
DELETE FROM {{ cohorts }} WHERE rows = 0
