-- Drops an empty schema.
DROP SCHEMA IF EXISTS {{ schema }} RESTRICT
