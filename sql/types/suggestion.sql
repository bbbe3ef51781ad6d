-- One row per column with a proposed role.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.suggestion') IS NULL THEN
        CREATE TYPE kanon.suggestion AS (
            "column" name,
            role text,
            reasons text[],
            distinct_values bigint,
            distinct_ratio double precision,
            unique_values bigint,
            missing double precision,
            restored_by name[]
        );
    END IF;
END
$type$;
ALTER TYPE kanon.suggestion OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.suggestion FROM PUBLIC;
COMMENT ON TYPE kanon.suggestion IS 'A proposed role of a column, as kanon_suggest returns it; nothing is declared by it.';
COMMENT ON COLUMN kanon.suggestion."column" IS 'The column.';
COMMENT ON COLUMN kanon.suggestion.role IS 'identifier, quasi_identifier (at most 10), sensitive, insensitive; entity: tells people apart who have several rows; withheld: should not be mentioned in a declaration, hence not be published.';
COMMENT ON COLUMN kanon.suggestion.reasons IS 'Why, in sentences; the deciding reason first.';
COMMENT ON COLUMN kanon.suggestion.distinct_values IS 'Different values without NULL; NULL if the type cannot be compared.';
COMMENT ON COLUMN kanon.suggestion.distinct_ratio IS 'Different values as a share of the rows that have one, 0 to 1.';
COMMENT ON COLUMN kanon.suggestion.unique_values IS 'Values that one row has.';
COMMENT ON COLUMN kanon.suggestion.missing IS 'Share of the rows that have no value, 0 to 1.';
COMMENT ON COLUMN kanon.suggestion.restored_by IS 'Columns each of which tells this one''s value: suppressing this one alone hides nothing.';
GRANT USAGE ON TYPE kanon.suggestion TO kanon_analyst;
