-- One row that says what a release is and what is proven about it.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.release_report') IS NULL THEN
        CREATE TYPE kanon.release_report AS (
            release text,
            k integer,
            rows bigint,
            people bigint,
            row_types bigint,
            classes bigint,
            smallest_class bigint,
            average_class double precision,
            largest_class bigint,
            suppressed_cells bigint,
            suppressed_share double precision,
            weighted_cost double precision,
            lower_bound double precision,
            gap double precision,
            optimal boolean,
            method text,
            bound_method text,
            usefulness double precision,
            elapsed interval,
            termination text
        );
    ELSIF NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute
        WHERE attrelid = 'kanon.release_report'::pg_catalog.regclass AND attname = 'termination' AND NOT attisdropped
    ) THEN
        ALTER TYPE kanon.release_report ADD ATTRIBUTE termination text;
    END IF;
END
$type$;
ALTER TYPE kanon.release_report OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.release_report FROM PUBLIC;
COMMENT ON TYPE kanon.release_report IS 'The report of a release, as kanon_anonymize returns it.';
COMMENT ON COLUMN kanon.release_report.release IS 'Name of the release: the view of this name in schema safe.';
COMMENT ON COLUMN kanon.release_report.k IS 'Fewest people that share any published combination of quasi-identifiers.';
COMMENT ON COLUMN kanon.release_report.rows IS 'Published rows.';
COMMENT ON COLUMN kanon.release_report.people IS 'Distinct people behind the rows; equals rows unless an entity is declared.';
COMMENT ON COLUMN kanon.release_report.row_types IS 'Distinct combinations of quasi-identifier values in the base table.';
COMMENT ON COLUMN kanon.release_report.classes IS 'Equivalence classes of the release.';
COMMENT ON COLUMN kanon.release_report.smallest_class IS 'People in the smallest class, recounted in the published rows; at least k.';
COMMENT ON COLUMN kanon.release_report.average_class IS 'Mean number of people per class.';
COMMENT ON COLUMN kanon.release_report.largest_class IS 'People in the largest class.';
COMMENT ON COLUMN kanon.release_report.suppressed_cells IS 'Cells that were replaced by NULL.';
COMMENT ON COLUMN kanon.release_report.suppressed_share IS 'Suppressed cells as a share of all quasi-identifier cells, 0 to 1.';
COMMENT ON COLUMN kanon.release_report.weighted_cost IS 'Suppressed cells, each counted with the weight of its column.';
COMMENT ON COLUMN kanon.release_report.lower_bound IS 'Proven: no release of this kind has a smaller weighted cost. For method full_domain the kind is one level per column, with rows suppressed by whole combinations. NULL if nothing is proven.';
COMMENT ON COLUMN kanon.release_report.gap IS 'Share of the weighted cost that might be avoidable: (cost - bound) / cost, 0 if optimal.';
COMMENT ON COLUMN kanon.release_report.optimal IS 'Whether the weighted cost is proven to be the least possible.';
COMMENT ON COLUMN kanon.release_report.method IS 'What found the solution.';
COMMENT ON COLUMN kanon.release_report.bound_method IS 'What proved the lower bound.';
COMMENT ON COLUMN kanon.release_report.usefulness IS 'Mean tuple diversity of the classes; smaller is better.';
COMMENT ON COLUMN kanon.release_report.elapsed IS 'Time from the call to the verified release.';
COMMENT ON COLUMN kanon.release_report.termination IS 'How the search ended: optimal (proven), goal (the proven gap is small enough), exhausted (nothing better found), time (time_limit was over), memory (kanon.memory_budget was used up).';
GRANT USAGE ON TYPE kanon.release_report TO kanon_curator;
