-- One row per k of a suppression curve.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.curve_point') IS NULL THEN
        CREATE TYPE kanon.curve_point AS (
            k integer,
            suppressed_cells bigint,
            suppressed_share double precision,
            weighted_cost double precision,
            lower_bound double precision,
            gap double precision,
            optimal boolean,
            classes bigint,
            average_class double precision,
            method text,
            elapsed interval,
            termination text
        );
    ELSIF NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute
        WHERE attrelid = 'kanon.curve_point'::pg_catalog.regclass AND attname = 'termination' AND NOT attisdropped
    ) THEN
        ALTER TYPE kanon.curve_point ADD ATTRIBUTE termination text;
    END IF;
END
$type$;
ALTER TYPE kanon.curve_point OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.curve_point FROM PUBLIC;
COMMENT ON TYPE kanon.curve_point IS 'What one k costs, as kanon_curve returns it.';
COMMENT ON COLUMN kanon.curve_point.k IS 'Fewest people that share any combination of quasi-identifiers.';
COMMENT ON COLUMN kanon.curve_point.suppressed_cells IS 'Cells that the best solution found suppresses.';
COMMENT ON COLUMN kanon.curve_point.suppressed_share IS 'Suppressed cells as a share of all quasi-identifier cells, 0 to 1.';
COMMENT ON COLUMN kanon.curve_point.weighted_cost IS 'Suppressed cells, each counted with the weight of its column; never less than for a smaller k.';
COMMENT ON COLUMN kanon.curve_point.lower_bound IS 'Proven: no release with this k has a smaller weighted cost. Never less than for a smaller k; NULL if nothing is proven.';
COMMENT ON COLUMN kanon.curve_point.gap IS 'Share of the weighted cost that might be avoidable: (cost - bound) / cost, 0 if optimal.';
COMMENT ON COLUMN kanon.curve_point.optimal IS 'Whether the weighted cost is proven to be the least possible.';
COMMENT ON COLUMN kanon.curve_point.classes IS 'Equivalence classes of the solution.';
COMMENT ON COLUMN kanon.curve_point.average_class IS 'Mean number of people per class.';
COMMENT ON COLUMN kanon.curve_point.method IS 'What found the solution; if it was found for a larger k, for which.';
COMMENT ON COLUMN kanon.curve_point.elapsed IS 'Time spent on this k alone.';
COMMENT ON COLUMN kanon.curve_point.termination IS 'How the search ended: optimal (proven), goal (the proven gap is small enough), exhausted (nothing better found), time (time_limit was over), memory (kanon.memory_budget was used up).';
GRANT USAGE ON TYPE kanon.curve_point TO kanon_curator;
