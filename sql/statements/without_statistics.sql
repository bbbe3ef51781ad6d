-- Leaves a column out of statistics for good: who gathers them, autovacuum, too, has the rights of the table's owner.
ALTER TABLE {{ relation }} ALTER COLUMN {{ column }} SET STATISTICS 0
