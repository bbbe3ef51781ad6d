-- The four roles of the whole server: an owner and a reader nobody can log in as, and two groups to be granted.
DO $roles$
DECLARE
    missing name;
BEGIN
    FOREACH missing IN ARRAY ARRAY['kanon_owner', 'kanon_reader', 'kanon_curator', 'kanon_analyst']::name[] LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname = missing);
        BEGIN
            EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE INHERIT', missing);
        EXCEPTION
            -- Another database of this server is being installed into at the same time.
            WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END LOOP;
    IF NOT pg_catalog.pg_has_role('kanon_curator', 'kanon_analyst', 'MEMBER') THEN
        GRANT kanon_analyst TO kanon_curator;
    END IF;
    -- What analysts may read can be joined with what they ask about.
    IF NOT pg_catalog.pg_has_role('kanon_reader', 'kanon_analyst', 'MEMBER') THEN
        GRANT kanon_analyst TO kanon_reader;
    END IF;
    -- Whoever may act as the owner may act as the reader: the client's door does.
    IF NOT pg_catalog.pg_has_role('kanon_owner', 'kanon_reader', 'MEMBER') THEN
        GRANT kanon_reader TO kanon_owner;
    END IF;
    -- A superuser is implicitly a member; any other installing role must be one to hand objects over.
    IF NOT (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user) THEN
        IF NOT pg_catalog.pg_has_role(current_user, 'kanon_owner', 'USAGE') THEN
            EXECUTE pg_catalog.format('GRANT kanon_owner TO %I', current_user);
        END IF;
        IF NOT pg_catalog.pg_has_role(current_user, 'kanon_curator', 'USAGE') THEN
            EXECUTE pg_catalog.format('GRANT kanon_curator TO %I', current_user);
        END IF;
    END IF;
END
$roles$;

-- Schema kanon holds the internals, schema safe nothing but what analysts may read.
CREATE SCHEMA IF NOT EXISTS kanon AUTHORIZATION kanon_owner;
REVOKE ALL ON SCHEMA kanon FROM PUBLIC;
COMMENT ON SCHEMA kanon IS 'k-anonymity: declarations, releases and internal functions; not for analysts.';

CREATE SCHEMA IF NOT EXISTS safe AUTHORIZATION kanon_owner;
REVOKE ALL ON SCHEMA safe FROM PUBLIC;
COMMENT ON SCHEMA safe IS 'k-anonymity: the published releases, one view each.';

-- What the owner creates later is closed to PUBLIC as well; views in safe are open to analysts.
ALTER DEFAULT PRIVILEGES FOR ROLE kanon_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE kanon_owner IN SCHEMA safe GRANT SELECT ON TABLES TO kanon_analyst;

-- Schema kanon_catalog stands for PostgreSQL's catalogs where tools ask through the gateway. Its views have the
-- columns of the server's version, so they are made anew each time; its functions, which use them, go first.
CREATE SCHEMA IF NOT EXISTS kanon_catalog AUTHORIZATION kanon_owner;
REVOKE ALL ON SCHEMA kanon_catalog FROM PUBLIC;
GRANT USAGE ON SCHEMA kanon_catalog TO kanon_analyst;
COMMENT ON SCHEMA kanon_catalog IS 'k-anonymity: catalogs that show only what the role may read or ask about.';

DO $earlier$
DECLARE
    earlier regprocedure;
BEGIN
    FOR earlier IN
        SELECT p.oid::regprocedure
        FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace = 'kanon_catalog'::regnamespace
    LOOP
        EXECUTE pg_catalog.format('DROP FUNCTION %s', earlier);
    END LOOP;
END
$earlier$;

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
            elapsed interval
        );
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

-- One row per set of columns that tells rows apart as well as all columns do.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.identifying_set') IS NULL THEN
        CREATE TYPE kanon.identifying_set AS (
            columns name[],
            size integer,
            kind text,
            at_least integer,
            optimal boolean,
            distinct_rows bigint,
            distinction double precision,
            method text
        );
    END IF;
END
$type$;
ALTER TYPE kanon.identifying_set OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.identifying_set FROM PUBLIC;
COMMENT ON TYPE kanon.identifying_set IS 'A set of columns that tells rows apart as well as all columns do, as kanon_identify returns it.';
COMMENT ON COLUMN kanon.identifying_set.columns IS 'The columns; without any one of them fewer rows would differ.';
COMMENT ON COLUMN kanon.identifying_set.size IS 'Number of columns.';
COMMENT ON COLUMN kanon.identifying_set.kind IS 'minimum: no identifying set has fewer columns, proven. minimal: no column can be left out.';
COMMENT ON COLUMN kanon.identifying_set.at_least IS 'Proven: every identifying set has at least so many columns.';
COMMENT ON COLUMN kanon.identifying_set.optimal IS 'Whether no identifying set has fewer columns, proven.';
COMMENT ON COLUMN kanon.identifying_set.distinct_rows IS 'Different rows of the table, by all columns as by these.';
COMMENT ON COLUMN kanon.identifying_set.distinction IS 'Different rows as a share of all rows, 0 to 1.';
COMMENT ON COLUMN kanon.identifying_set.method IS 'What found the set.';

-- One row of measures of a table or view.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.measures') IS NULL THEN
        CREATE TYPE kanon.measures AS (
            rows bigint,
            people bigint,
            classes bigint,
            k bigint,
            average_class double precision,
            largest_class bigint,
            distinct_l bigint,
            entropy_l double precision,
            frequency_l double precision,
            p bigint,
            t_equal double precision,
            t_ordered double precision,
            delta_disclosure double precision,
            beta_likeness double precision,
            prosecutor_risk double precision,
            journalist_risk double precision,
            marketer_risk double precision,
            discernibility numeric,
            average_class_ratio double precision,
            usefulness double precision
        );
    END IF;
    IF NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute
        WHERE attrelid = pg_catalog.to_regclass('kanon.measures') AND attname = 'certainty_penalty'
    ) THEN
        ALTER TYPE kanon.measures
            ADD ATTRIBUTE certainty_penalty double precision,
            ADD ATTRIBUTE generalization_height double precision,
            ADD ATTRIBUTE entropy_loss double precision,
            ADD ATTRIBUTE marginal_divergence double precision;
    END IF;
END
$type$;
ALTER TYPE kanon.measures OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.measures FROM PUBLIC;
COMMENT ON TYPE kanon.measures IS 'How anonymous a table or view is, as kanon_measure returns it.';
COMMENT ON COLUMN kanon.measures.rows IS 'Rows of the relation.';
COMMENT ON COLUMN kanon.measures.people IS 'Distinct people; equals rows unless an entity is declared.';
COMMENT ON COLUMN kanon.measures.classes IS 'Equivalence classes: groups of rows that agree on all quasi-identifiers.';
COMMENT ON COLUMN kanon.measures.k IS 'People in the smallest class: the relation is k-anonymous for every k up to this (Samarati and Sweeney 1998).';
COMMENT ON COLUMN kanon.measures.average_class IS 'Mean number of people per class.';
COMMENT ON COLUMN kanon.measures.largest_class IS 'People in the largest class.';
COMMENT ON COLUMN kanon.measures.distinct_l IS 'Fewest different sensitive values in a class, NULL being one; of several columns the worst (Machanavajjhala et al. 2006).';
COMMENT ON COLUMN kanon.measures.entropy_l IS 'Entropy l-diversity: exp of the smallest entropy of a class (Machanavajjhala et al. 2006).';
COMMENT ON COLUMN kanon.measures.frequency_l IS 'Smallest ratio of the people in a class to those with its most frequent sensitive value (Xiao and Tao 2006).';
COMMENT ON COLUMN kanon.measures.p IS 'Fewest different values of any sensitive column in a class (p-sensitive k-anonymity, Truta and Vinay 2006).';
COMMENT ON COLUMN kanon.measures.t_equal IS 't-closeness if all sensitive values are equally far apart, 0 to 1 (Li, Li and Venkatasubramanian 2007).';
COMMENT ON COLUMN kanon.measures.t_ordered IS 't-closeness by the ordered distance, 0 to 1; NULL unless a sensitive column holds numbers, dates or times.';
COMMENT ON COLUMN kanon.measures.delta_disclosure IS 'Largest |ln| of a value''s share in a class over its share in the whole (Brickell and Shmatikov 2008).';
COMMENT ON COLUMN kanon.measures.beta_likeness IS 'Largest relative gain of a value''s share in a class over its share in the whole (Cao and Karras 2012).';
COMMENT ON COLUMN kanon.measures.prosecutor_risk IS 'Highest chance to find the row of a person known to be in the relation: 1 / k (El Emam and Dankar 2008).';
COMMENT ON COLUMN kanon.measures.journalist_risk IS 'Highest chance to find anybody''s row through a register of the population; 1 / k as no larger register is known.';
COMMENT ON COLUMN kanon.measures.marketer_risk IS 'Expected share of correct guesses when every row is linked.';
COMMENT ON COLUMN kanon.measures.discernibility IS 'Sum of the squared class sizes in rows (Bayardo and Agrawal 2005).';
COMMENT ON COLUMN kanon.measures.average_class_ratio IS 'Average class over the smallest class, 1 or more: C_AVG for the measured k (LeFevre et al. 2006).';
COMMENT ON COLUMN kanon.measures.usefulness IS 'Mean over classes of the spread of the quasi-identifiers, a suppressed cell counting 1; smaller is better.';
COMMENT ON COLUMN kanon.measures.certainty_penalty IS 'Share of the values of its column that a cell stands for, on average, 0 to 1 (normalized certainty penalty, Xu et al. 2006). This and the next three only for releases, when they were published.';
COMMENT ON COLUMN kanon.measures.generalization_height IS 'Level by height of the hierarchy, on average over all cells, 0 to 1; 1 less this is the precision of Sweeney (2002).';
COMMENT ON COLUMN kanon.measures.entropy_loss IS 'Information lost about the cells, knowing how frequent values are, 0 to 1 (non-uniform entropy, Gionis and Tassa 2009).';
COMMENT ON COLUMN kanon.measures.marginal_divergence IS 'Mean Kullback-Leibler divergence in bits of what the cells tell of a column''s distribution (after Kifer and Gehrke 2006).';

-- One row per point that was grouped.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.point_class') IS NULL THEN
        CREATE TYPE kanon.point_class AS (
            x double precision,
            y double precision,
            rectangle box,
            polygon jsonb,
            class_number integer,
            size bigint,
            cost numeric,
            lower_bound numeric,
            ratio double precision,
            optimal boolean,
            method text
        );
    END IF;
END
$type$;
ALTER TYPE kanon.point_class OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.point_class FROM PUBLIC;
COMMENT ON TYPE kanon.point_class IS 'A point and its rectangle, as kanon_rectangles returns it.';
COMMENT ON COLUMN kanon.point_class.x IS 'First coordinate; NULL for rows without a whole point.';
COMMENT ON COLUMN kanon.point_class.y IS 'Second coordinate.';
COMMENT ON COLUMN kanon.point_class.rectangle IS 'The rectangle; NULL for rows without a whole point.';
COMMENT ON COLUMN kanon.point_class.polygon IS 'The rectangle as a GeoJSON polygon.';
COMMENT ON COLUMN kanon.point_class.class_number IS 'The rectangle as a number, from 1.';
COMMENT ON COLUMN kanon.point_class.size IS 'Weight of the class: people, rows, or what the weight column adds up to; at least k.';
COMMENT ON COLUMN kanon.point_class.cost IS 'What all classes together cost: the size of the largest, or the sum over all people of what their class has beyond k.';
COMMENT ON COLUMN kanon.point_class.lower_bound IS 'Proven: no other classes of this kind cost less.';
COMMENT ON COLUMN kanon.point_class.ratio IS 'Cost divided by the bound, at least 1: no solution is better by a greater factor. NULL if the bound is 0 and the cost is not.';
COMMENT ON COLUMN kanon.point_class.optimal IS 'Whether the cost is proven to be the least possible.';
COMMENT ON COLUMN kanon.point_class.method IS 'What found the classes.';

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
            elapsed interval
        );
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
COMMENT ON COLUMN kanon.release_report.lower_bound IS 'Proven: no release of this kind has a smaller weighted cost. NULL if nothing is proven.';
COMMENT ON COLUMN kanon.release_report.gap IS 'Share of the weighted cost that might be avoidable: (cost - bound) / cost, 0 if optimal.';
COMMENT ON COLUMN kanon.release_report.optimal IS 'Whether the weighted cost is proven to be the least possible.';
COMMENT ON COLUMN kanon.release_report.method IS 'What found the solution.';
COMMENT ON COLUMN kanon.release_report.bound_method IS 'What proved the lower bound.';
COMMENT ON COLUMN kanon.release_report.usefulness IS 'Mean tuple diversity of the classes; smaller is better.';
COMMENT ON COLUMN kanon.release_report.elapsed IS 'Time from the call to the verified release.';

-- One row per relation with the risk of the people in it.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.risk') IS NULL THEN
        CREATE TYPE kanon.risk AS (
            relation text,
            columns name[],
            rows bigint,
            people bigint,
            classes bigint,
            smallest_class bigint,
            prosecutor_risk double precision,
            prosecutor_average double precision,
            journalist_risk double precision,
            journalist_average double precision,
            journalist_basis text,
            marketer_risk double precision,
            threshold double precision,
            people_above bigint,
            share_above double precision,
            sample_uniques bigint,
            minimal_uniques bigint[],
            people_by_unique bigint[],
            homogeneous_people bigint,
            homogeneous jsonb
        );
    END IF;
END
$type$;
ALTER TYPE kanon.risk OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.risk FROM PUBLIC;
COMMENT ON TYPE kanon.risk IS 'How likely people are found again in a relation, as kanon_risk returns it.';
COMMENT ON COLUMN kanon.risk.relation IS 'The table, view or release.';
COMMENT ON COLUMN kanon.risk.columns IS 'What the attacker knows; in a release also which cells are suppressed.';
COMMENT ON COLUMN kanon.risk.rows IS 'Rows of the relation.';
COMMENT ON COLUMN kanon.risk.people IS 'Sum of the class sizes: more than the people if somebody is in several classes.';
COMMENT ON COLUMN kanon.risk.classes IS 'Number of equivalence classes.';
COMMENT ON COLUMN kanon.risk.smallest_class IS 'People in the smallest class.';
COMMENT ON COLUMN kanon.risk.prosecutor_risk IS 'Greatest chance to find a person who is known to be in the relation: 1 / smallest class.';
COMMENT ON COLUMN kanon.risk.prosecutor_average IS 'The same on average over the people.';
COMMENT ON COLUMN kanon.risk.journalist_risk IS 'Greatest chance to find anybody through a register of the population.';
COMMENT ON COLUMN kanon.risk.journalist_average IS 'The same on average over the people.';
COMMENT ON COLUMN kanon.risk.journalist_basis IS 'What is known of the population: the table itself (then an upper bound), population table, sampling fraction.';
COMMENT ON COLUMN kanon.risk.marketer_risk IS 'Expected share of correct guesses if everybody is linked.';
COMMENT ON COLUMN kanon.risk.threshold IS 'Risk above which a record counts as being at risk.';
COMMENT ON COLUMN kanon.risk.people_above IS 'People whose prosecutor risk exceeds the threshold.';
COMMENT ON COLUMN kanon.risk.share_above IS 'Their share, 0 to 1.';
COMMENT ON COLUMN kanon.risk.sample_uniques IS 'Classes of a single person.';
COMMENT ON COLUMN kanon.risk.minimal_uniques IS 'Smallest combinations of values that only one person has, by their number of columns 1, 2, 3.';
COMMENT ON COLUMN kanon.risk.people_by_unique IS 'People whose smallest such combination has 1, 2, 3 columns.';
COMMENT ON COLUMN kanon.risk.homogeneous_people IS 'People in classes where all have the same sensitive value, for the column with most of them; NULL without sensitive columns.';
COMMENT ON COLUMN kanon.risk.homogeneous IS 'The same per sensitive column: classes, people and rows.';

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
COMMENT ON COLUMN kanon.suggestion.role IS 'identifier, quasi_identifier, sensitive, insensitive; or entity: tells people apart who have several rows.';
COMMENT ON COLUMN kanon.suggestion.reasons IS 'Why, in sentences; the deciding reason first.';
COMMENT ON COLUMN kanon.suggestion.distinct_values IS 'Different values without NULL; NULL if the type cannot be compared.';
COMMENT ON COLUMN kanon.suggestion.distinct_ratio IS 'Different values as a share of the rows that have one, 0 to 1.';
COMMENT ON COLUMN kanon.suggestion.unique_values IS 'Values that one row has.';
COMMENT ON COLUMN kanon.suggestion.missing IS 'Share of the rows that have no value, 0 to 1.';
COMMENT ON COLUMN kanon.suggestion.restored_by IS 'Columns each of which tells this one''s value: suppressing this one alone hides nothing.';

-- One row per value of a column that was grouped.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.value_class') IS NULL THEN
        CREATE TYPE kanon.value_class AS (
            value text,
            label text,
            class_number integer,
            size bigint,
            cost numeric,
            lower_bound numeric,
            ratio double precision,
            optimal boolean,
            method text
        );
    END IF;
END
$type$;
ALTER TYPE kanon.value_class OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.value_class FROM PUBLIC;
COMMENT ON TYPE kanon.value_class IS 'A value and its class, as kanon_intervals, kanon_groups and kanon_regions return it.';
COMMENT ON COLUMN kanon.value_class.value IS 'The value as text; NULL for missing ones.';
COMMENT ON COLUMN kanon.value_class.label IS 'The class: an interval as text of a range type, or the names of its heaviest values; NULL if it has the missing values alone.';
COMMENT ON COLUMN kanon.value_class.class_number IS 'The class as a number, from 1 in the order of the values.';
COMMENT ON COLUMN kanon.value_class.size IS 'Weight of the class: people, rows, or what the weight column adds up to; at least k.';
COMMENT ON COLUMN kanon.value_class.cost IS 'What all classes together cost: the size of the largest, or the sum over all people of what their class has beyond k.';
COMMENT ON COLUMN kanon.value_class.lower_bound IS 'Proven: no other classes of this kind cost less.';
COMMENT ON COLUMN kanon.value_class.ratio IS 'Cost divided by the bound, at least 1: no solution is better by a greater factor. NULL if the bound is 0 and the cost is not.';
COMMENT ON COLUMN kanon.value_class.optimal IS 'Whether the cost is proven to be the least possible.';
COMMENT ON COLUMN kanon.value_class.method IS 'What found the classes.';

-- One row per minimal violating set of columns.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.violating_set') IS NULL THEN
        CREATE TYPE kanon.violating_set AS (
            columns name[],
            size integer,
            kind text,
            smallest_class bigint,
            people_at_risk bigint,
            rows_at_risk bigint,
            distinct_values bigint,
            distinction double precision,
            separation double precision
        );
    END IF;
END
$type$;
ALTER TYPE kanon.violating_set OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.violating_set FROM PUBLIC;
COMMENT ON TYPE kanon.violating_set IS 'A minimal set of columns that singles out fewer than k people, as kanon_audit returns it. Figures are NULL where the time did not suffice.';
COMMENT ON COLUMN kanon.violating_set.columns IS 'The columns; no proper subset of them singles out fewer than k people. Empty if the whole table has fewer than k people.';
COMMENT ON COLUMN kanon.violating_set.size IS 'Number of columns.';
COMMENT ON COLUMN kanon.violating_set.kind IS 'minimum: no set of fewer columns singles out fewer than k people, proven. minimal: leaving out any column ends that.';
COMMENT ON COLUMN kanon.violating_set.smallest_class IS 'Fewest people who share a combination of values.';
COMMENT ON COLUMN kanon.violating_set.people_at_risk IS 'People who share their combination of values with fewer than k people, themselves included.';
COMMENT ON COLUMN kanon.violating_set.rows_at_risk IS 'Rows with such a combination.';
COMMENT ON COLUMN kanon.violating_set.distinct_values IS 'Different combinations of values.';
COMMENT ON COLUMN kanon.violating_set.distinction IS 'Different combinations as a share of the rows, 0 to 1.';
COMMENT ON COLUMN kanon.violating_set.separation IS 'Share of all pairs of rows that differ on the columns, 0 to 1.';

-- The roles that columns of a table play.
CREATE TABLE IF NOT EXISTS kanon.declaration (
    relation regclass PRIMARY KEY,
    identifiers name[] NOT NULL DEFAULT '{}',
    quasi_identifiers name[] NOT NULL DEFAULT '{}',
    sensitive name[] NOT NULL DEFAULT '{}',
    insensitive name[] NOT NULL DEFAULT '{}',
    entity name,
    weights jsonb,
    row_types_view name,
    declared_by name NOT NULL,
    declared_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE kanon.declaration OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.declaration FROM PUBLIC;
COMMENT ON TABLE kanon.declaration IS 'The roles that columns of a table play, as declared with kanon_declare.';
COMMENT ON COLUMN kanon.declaration.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.declaration.identifiers IS 'Columns that name a person; never published.';
COMMENT ON COLUMN kanon.declaration.quasi_identifiers IS 'Columns that can be linked with other sources.';
COMMENT ON COLUMN kanon.declaration.sensitive IS 'Columns that must not be learned about a person; published unchanged.';
COMMENT ON COLUMN kanon.declaration.insensitive IS 'Columns published unchanged that tell nothing about a person.';
COMMENT ON COLUMN kanon.declaration.entity IS 'Column that identifies a person who may have several rows; NULL: each row is a person.';
COMMENT ON COLUMN kanon.declaration.weights IS 'Cost of a suppressed cell per column; 1 where not mentioned.';
COMMENT ON COLUMN kanon.declaration.row_types_view IS 'View in schema kanon that counts the row types.';
COMMENT ON COLUMN kanon.declaration.declared_by IS 'Who declared it.';
COMMENT ON COLUMN kanon.declaration.declared_at IS 'When it was declared.';

-- Stored generalization hierarchies, one row per version.
CREATE TABLE IF NOT EXISTS kanon.hierarchy (
    name text NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    description text,
    kind text NOT NULL,
    spec jsonb NOT NULL,
    output text NOT NULL CHECK (
        output IN ('text', 'int4range', 'int8range', 'numrange', 'daterange', 'tsrange', 'tstzrange')
    ),
    height integer NOT NULL CHECK (height >= 1),
    nodes integer[] NOT NULL,
    shared boolean NOT NULL DEFAULT false,
    created_by name NOT NULL,
    created_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    PRIMARY KEY (name, version)
);
ALTER TABLE kanon.hierarchy OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.hierarchy FROM PUBLIC;
COMMENT ON TABLE kanon.hierarchy IS 'Stored generalization hierarchies, one row per version; read kanon.hierarchies instead.';
COMMENT ON COLUMN kanon.hierarchy.name IS 'Name of the hierarchy.';
COMMENT ON COLUMN kanon.hierarchy.version IS 'Counts up each time that the name is stored again.';
COMMENT ON COLUMN kanon.hierarchy.description IS 'What its maker says of it.';
COMMENT ON COLUMN kanon.hierarchy.kind IS 'Where it comes from: rows, table, taxonomy, or the name of a builder.';
COMMENT ON COLUMN kanon.hierarchy.spec IS 'What it was made with; may contain values.';
COMMENT ON COLUMN kanon.hierarchy.output IS 'Type of its nodes, and of a column published with it: text or a range type.';
COMMENT ON COLUMN kanon.hierarchy.height IS 'The top level, at which a cell is suppressed.';
COMMENT ON COLUMN kanon.hierarchy.nodes IS 'Different nodes per level, from the values (level 0) to the top.';
COMMENT ON COLUMN kanon.hierarchy.shared IS 'Whether every curator may see and use it; else its maker only.';
COMMENT ON COLUMN kanon.hierarchy.created_by IS 'Who stored it.';
COMMENT ON COLUMN kanon.hierarchy.created_at IS 'When it was stored.';

-- What stored hierarchies say of each value.
CREATE TABLE IF NOT EXISTS kanon.hierarchy_value (
    hierarchy text NOT NULL,
    version integer NOT NULL,
    value text COLLATE "C" NOT NULL,
    nodes text[] COLLATE "C" NOT NULL,
    PRIMARY KEY (hierarchy, version, value),
    FOREIGN KEY (hierarchy, version) REFERENCES kanon.hierarchy (name, version) ON DELETE CASCADE
);
ALTER TABLE kanon.hierarchy_value OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.hierarchy_value FROM PUBLIC;
COMMENT ON TABLE kanon.hierarchy_value IS 'The values of stored hierarchies with their nodes.';
COMMENT ON COLUMN kanon.hierarchy_value.hierarchy IS 'Name of the hierarchy.';
COMMENT ON COLUMN kanon.hierarchy_value.version IS 'Its version.';
COMMENT ON COLUMN kanon.hierarchy_value.value IS 'A value, in the text form of its column''s type.';
COMMENT ON COLUMN kanon.hierarchy_value.nodes IS 'Its nodes from level 1 to the level below the top, in the text form of the output type.';

-- Where the record of questions about a table is kept; the files themselves lie outside of every transaction.
CREATE TABLE IF NOT EXISTS kanon.ledger (
    relation regclass PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[0-9a-f]{32}$'),
    earlier text[] NOT NULL DEFAULT '{}',
    begun_by name NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE kanon.ledger ADD COLUMN IF NOT EXISTS earlier text[] NOT NULL DEFAULT '{}';
ALTER TABLE kanon.ledger OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.ledger FROM PUBLIC;
COMMENT ON TABLE kanon.ledger IS 'The records of questions about protected tables; stays when a table is no longer protected.';
COMMENT ON COLUMN kanon.ledger.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.ledger.name IS 'Folder of the record below kanon_ledger in the data directory; random, so that a copy of the database without its folders is noticed.';
COMMENT ON COLUMN kanon.ledger.earlier IS 'Folders of records that were begun before; kanon.query_log shows them, answers are not compared with them.';
COMMENT ON COLUMN kanon.ledger.begun_by IS 'Who began the record.';
COMMENT ON COLUMN kanon.ledger.begun_at IS 'When it was begun.';
GRANT SELECT ON TABLE kanon.ledger TO kanon_reader;

-- The rules under which protected tables answer questions.
CREATE TABLE IF NOT EXISTS kanon.protection (
    relation regclass PRIMARY KEY,
    k integer NOT NULL CHECK (k BETWEEN 2 AND 100),
    mode text NOT NULL CHECK (mode IN ('reject', 'suppress')),
    strict boolean NOT NULL,
    simulatable boolean NOT NULL,
    dominance double precision CHECK (dominance > 0 AND dominance < 1),
    extremes text NOT NULL CHECK (extremes IN ('never', 'insensitive', 'always')),
    ledger text NOT NULL CHECK (ledger IN ('off', 'pairwise', 'linear')),
    one_sided boolean NOT NULL,
    rank integer NOT NULL CHECK (rank BETWEEN 8 AND 2048),
    questions integer CHECK (questions >= 0),
    refusals integer CHECK (refusals >= 1),
    all_questions integer CHECK (all_questions >= 0),
    all_refusals integer CHECK (all_refusals >= 1),
    period double precision NOT NULL CHECK (period > 0),
    lockout double precision NOT NULL CHECK (lockout >= 0),
    seconds double precision NOT NULL CHECK (seconds > 0),
    rows integer NOT NULL CHECK (rows >= 1),
    protected_by name NOT NULL,
    protected_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE kanon.protection ADD COLUMN IF NOT EXISTS simulatable boolean NOT NULL DEFAULT false;
ALTER TABLE kanon.protection OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.protection FROM PUBLIC;
COMMENT ON TABLE kanon.protection IS 'The tables that answer questions, and under which rules, as set with kanon_protect.';
COMMENT ON COLUMN kanon.protection.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.protection.k IS 'Fewest people behind every part of an answer.';
COMMENT ON COLUMN kanon.protection.mode IS 'Whether rows with too few people refuse the answer (reject) or are left out (suppress).';
COMMENT ON COLUMN kanon.protection.strict IS 'Whether nobody counts as too few where the question names a set.';
COMMENT ON COLUMN kanon.protection.simulatable IS 'Whether sensitive columns have no say in refusals.';
COMMENT ON COLUMN kanon.protection.dominance IS 'Largest share of a sum that one person may have; NULL for no rule.';
COMMENT ON COLUMN kanon.protection.extremes IS 'Columns whose smallest and largest value may be asked: never, insensitive, always.';
COMMENT ON COLUMN kanon.protection.ledger IS 'How far answers are compared with earlier ones: off, pairwise, linear.';
COMMENT ON COLUMN kanon.protection.one_sided IS 'Whether sets are refused that an earlier set nearly contains, or nearly lies in.';
COMMENT ON COLUMN kanon.protection.rank IS 'Most independent sets that are kept for sums and differences.';
COMMENT ON COLUMN kanon.protection.questions IS 'Most questions of one login within a period; NULL for no limit.';
COMMENT ON COLUMN kanon.protection.refusals IS 'Withheld answers to one login within a period after which it is locked out; NULL for no limit.';
COMMENT ON COLUMN kanon.protection.all_questions IS 'Most questions of all logins together within a period; NULL for no limit.';
COMMENT ON COLUMN kanon.protection.all_refusals IS 'Withheld answers to all logins together within a period after which nobody is answered; NULL for no limit.';
COMMENT ON COLUMN kanon.protection.period IS 'Seconds that a question counts.';
COMMENT ON COLUMN kanon.protection.lockout IS 'Seconds from the last of these withheld answers.';
COMMENT ON COLUMN kanon.protection.seconds IS 'Longest time that one question may take.';
COMMENT ON COLUMN kanon.protection.rows IS 'Most rows of one answer.';
COMMENT ON COLUMN kanon.protection.protected_by IS 'Who protected it.';
COMMENT ON COLUMN kanon.protection.protected_at IS 'When it was protected.';

-- The published releases with their parameters and reports.
CREATE TABLE IF NOT EXISTS kanon.release (
    name text PRIMARY KEY,
    relation regclass NOT NULL,
    storage regclass NOT NULL,
    mapping regclass NOT NULL,
    parts regclass,
    hash_seed bigint NOT NULL,
    parameters jsonb NOT NULL,
    quasi_identifiers name[] NOT NULL,
    sensitive name[] NOT NULL,
    insensitive name[] NOT NULL,
    entity name,
    k integer NOT NULL CHECK (k >= 2),
    rows bigint NOT NULL,
    people bigint NOT NULL,
    row_types bigint NOT NULL,
    classes bigint NOT NULL,
    smallest_class bigint NOT NULL,
    average_class double precision NOT NULL,
    largest_class bigint NOT NULL,
    suppressed_cells bigint NOT NULL,
    suppressed_share double precision NOT NULL,
    weighted_cost double precision NOT NULL,
    lower_bound double precision,
    gap double precision,
    optimal boolean NOT NULL,
    method text NOT NULL,
    bound_method text,
    usefulness double precision,
    elapsed interval NOT NULL,
    base_changes_at_publish bigint,
    published_by name NOT NULL,
    published_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    generalized name[] NOT NULL DEFAULT '{}',
    nodes regclass[] NOT NULL DEFAULT '{}',
    unknown regclass,
    certainty_penalty double precision,
    generalization_height double precision,
    entropy_loss double precision,
    marginal_divergence double precision
);
ALTER TABLE kanon.release ADD COLUMN IF NOT EXISTS parts regclass;
ALTER TABLE kanon.release ADD COLUMN IF NOT EXISTS generalized name[] NOT NULL DEFAULT '{}';
ALTER TABLE kanon.release ADD COLUMN IF NOT EXISTS nodes regclass[] NOT NULL DEFAULT '{}';
ALTER TABLE kanon.release ADD COLUMN IF NOT EXISTS unknown regclass;
ALTER TABLE kanon.release ADD COLUMN IF NOT EXISTS certainty_penalty double precision;
ALTER TABLE kanon.release ADD COLUMN IF NOT EXISTS generalization_height double precision;
ALTER TABLE kanon.release ADD COLUMN IF NOT EXISTS entropy_loss double precision;
ALTER TABLE kanon.release ADD COLUMN IF NOT EXISTS marginal_divergence double precision;
ALTER TABLE kanon.release OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.release FROM PUBLIC;
COMMENT ON TABLE kanon.release IS 'The published releases, one row each; read kanon.releases instead.';
COMMENT ON COLUMN kanon.release.name IS 'Name of the view in schema safe.';
COMMENT ON COLUMN kanon.release.relation IS 'The base table.';
COMMENT ON COLUMN kanon.release.storage IS 'The materialized view behind the view in safe.';
COMMENT ON COLUMN kanon.release.mapping IS 'Table that says which columns to suppress for which row type, and at which price.';
COMMENT ON COLUMN kanon.release.parts IS
'Table that says which rows of divided row types have which pattern; NULL if none is divided.';
COMMENT ON COLUMN kanon.release.hash_seed IS 'Seed of the hash that identifies row types in the mapping.';
COMMENT ON COLUMN kanon.release.parameters IS 'All arguments of the call that made the release; of hierarchies built for it the name of the builder.';
COMMENT ON COLUMN kanon.release.quasi_identifiers IS 'Columns in which cells may be suppressed.';
COMMENT ON COLUMN kanon.release.sensitive IS 'Sensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.release.insensitive IS 'Insensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.release.entity IS 'Column that identifies a person; NULL: each row is a person.';
COMMENT ON COLUMN kanon.release.k IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.rows IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.people IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.row_types IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.classes IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.smallest_class IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.average_class IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.largest_class IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.suppressed_cells IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.suppressed_share IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.weighted_cost IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.lower_bound IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.gap IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.optimal IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.method IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.bound_method IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.usefulness IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.elapsed IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.base_changes_at_publish IS 'kanon.base_changes of the base table when the release was published.';
COMMENT ON COLUMN kanon.release.published_by IS 'Who published it.';
COMMENT ON COLUMN kanon.release.published_at IS 'When it was published.';
COMMENT ON COLUMN kanon.release.generalized IS 'Quasi-identifiers that are published by a hierarchy.';
COMMENT ON COLUMN kanon.release.nodes IS 'Per generalized column the table of what is published of its values.';
COMMENT ON COLUMN kanon.release.unknown IS
'View that counts rows whose values the hierarchies do not know; NULL without hierarchies.';
COMMENT ON COLUMN kanon.release.certainty_penalty IS 'See kanon.measures.';
COMMENT ON COLUMN kanon.release.generalization_height IS 'See kanon.measures.';
COMMENT ON COLUMN kanon.release.entropy_loss IS 'See kanon.measures.';
COMMENT ON COLUMN kanon.release.marginal_divergence IS 'See kanon.measures.';

-- One row per release name ever used: calls for the same name wait for each other here.
CREATE TABLE IF NOT EXISTS kanon.release_lock (
    name text PRIMARY KEY,
    generation bigint NOT NULL DEFAULT 0
);
ALTER TABLE kanon.release_lock OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.release_lock FROM PUBLIC;
COMMENT ON TABLE kanon.release_lock IS 'One row per release name; a call locks its row, so that calls never interleave.';
COMMENT ON COLUMN kanon.release_lock.name IS 'Name of the release.';
COMMENT ON COLUMN kanon.release_lock.generation IS 'How often it was published; part of the names of its storage.';

-- Who calls an API function. Inside a definer function the caller's own role is out of sight, and the login is
-- not it: maintenance by a superuser runs the code of a table's owner with that owner's rights only. So the API
-- functions, which run with the caller's rights, add a row whose defaults nobody can choose.
CREATE TABLE IF NOT EXISTS kanon.request (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operation text NOT NULL,
    role name NOT NULL DEFAULT current_user,
    transaction xid8 NOT NULL DEFAULT pg_catalog.pg_current_xact_id()
);
ALTER TABLE kanon.request OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.request FROM PUBLIC;
COMMENT ON TABLE kanon.request IS 'Calls that are being served; empty between transactions.';
COMMENT ON COLUMN kanon.request.number IS 'Order of the calls.';
COMMENT ON COLUMN kanon.request.operation IS 'What was called; the only column that callers may set.';
COMMENT ON COLUMN kanon.request.role IS 'Whose rights count.';
COMMENT ON COLUMN kanon.request.transaction IS 'The transaction of the call; a row is good for no other.';

-- What was installed, and what uninstalling has to give back.
CREATE TABLE IF NOT EXISTS kanon.version (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version text NOT NULL,
    api_schema name NOT NULL,
    plpython boolean NOT NULL,
    created_extension boolean NOT NULL DEFAULT false,
    created_api_schema boolean NOT NULL DEFAULT false,
    revoked_temporary boolean NOT NULL DEFAULT false,
    revoked_create_database boolean NOT NULL DEFAULT false,
    revoked_create_schemas name[] NOT NULL DEFAULT '{}',
    installed_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    updated_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE kanon.version OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.version FROM PUBLIC;
COMMENT ON TABLE kanon.version IS 'One row: the installed version and what the installation changed outside its schemas.';
COMMENT ON COLUMN kanon.version.only_row IS 'Always true; keeps the table at one row.';
COMMENT ON COLUMN kanon.version.version IS 'Version of the SQL objects; the Python package must have the same.';
COMMENT ON COLUMN kanon.version.api_schema IS 'Schema of the kanon_... functions.';
COMMENT ON COLUMN kanon.version.plpython IS 'Whether the functions exist in the server, or only the client can work.';
COMMENT ON COLUMN kanon.version.created_extension IS 'Whether the installation created the extension plpython3u.';
COMMENT ON COLUMN kanon.version.created_api_schema IS 'Whether the installation created the schema of the functions.';
COMMENT ON COLUMN kanon.version.revoked_temporary IS 'Whether PUBLIC had TEMPORARY on the database before.';
COMMENT ON COLUMN kanon.version.revoked_create_database IS 'Whether PUBLIC had CREATE on the database before.';
COMMENT ON COLUMN kanon.version.revoked_create_schemas IS 'Schemas on which PUBLIC had CREATE before.';
COMMENT ON COLUMN kanon.version.installed_at IS 'When kanon was first installed into this database.';
COMMENT ON COLUMN kanon.version.updated_at IS 'When it was last installed.';

-- Counts changes of a table as the statistics collector saw them.
CREATE OR REPLACE FUNCTION kanon.base_changes(relation regclass)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL RESTRICTED
SECURITY INVOKER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE part (oid) AS (
        SELECT c.oid FROM pg_catalog.pg_class AS c WHERE c.oid = base_changes.relation
        UNION
        SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i JOIN part ON i.inhparent = part.oid
    )
    SELECT CASE
        WHEN pg_catalog.count(*) > 0 AND pg_catalog.bool_and(c.relkind IN ('r', 'p')) THEN
            pg_catalog.sum(
                pg_catalog.pg_stat_get_tuples_inserted(c.oid)
                + pg_catalog.pg_stat_get_tuples_updated(c.oid)
                + pg_catalog.pg_stat_get_tuples_deleted(c.oid)
            )::bigint
        END
    FROM part JOIN pg_catalog.pg_class AS c USING (oid);
END;
ALTER FUNCTION kanon.base_changes(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.base_changes(regclass) FROM PUBLIC;
COMMENT ON FUNCTION kanon.base_changes(regclass) IS
'Rows inserted, updated and deleted so far in a table with its partitions and children, by the server''s
statistics (TRUNCATE is not counted); NULL for views, foreign tables and dropped tables.';

-- Names what reading a relation would run or read with the reader's rights although others wrote it.
CREATE OR REPLACE FUNCTION kanon.foreign_code(relation regclass)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
SELECT found.name
FROM (
-- What reading a relation would run or read with the reader's rights although somebody else than a superuser
-- wrote it: functions of views, indexes, constraints, policies, statistics, partition keys, types and casts
-- (the planner evaluates expressions that look constant), and views with the rights of whoever reads them.
-- Functions of trusted owners are not looked into.
-- $1 bigint
WITH RECURSIVE reached (class, object) AS (
    SELECT 'pg_catalog.pg_class'::regclass::oid, $1::bigint::oid
    UNION
    SELECT step.class, step.object
    FROM reached AS r
    CROSS JOIN LATERAL (
        SELECT d.refclassid AS class, d.refobjid AS object
        FROM pg_catalog.pg_depend AS d
        WHERE d.classid = r.class AND d.objid = r.object AND r.class <> 'pg_catalog.pg_proc'::regclass
            AND (
                d.refclassid IN (
                    'pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_type'::regclass, 'pg_catalog.pg_operator'::regclass,
                    'pg_catalog.pg_opclass'::regclass
                )
                OR (d.refclassid = 'pg_catalog.pg_class'::regclass AND r.class = 'pg_catalog.pg_rewrite'::regclass)
            )
        UNION ALL
        SELECT 'pg_catalog.pg_rewrite'::regclass, w.oid
        FROM pg_catalog.pg_rewrite AS w
        JOIN pg_catalog.pg_class AS c ON c.oid = w.ev_class AND c.relkind = 'v'
        WHERE r.class = 'pg_catalog.pg_class'::regclass AND w.ev_class = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_class'::regclass, i.indexrelid
        FROM pg_catalog.pg_index AS i
        WHERE r.class = 'pg_catalog.pg_class'::regclass AND i.indrelid = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_class'::regclass, i.inhrelid
        FROM pg_catalog.pg_inherits AS i
        WHERE r.class = 'pg_catalog.pg_class'::regclass AND i.inhparent = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_constraint'::regclass, o.oid
        FROM pg_catalog.pg_constraint AS o
        WHERE o.contype = 'c' AND (
            (r.class = 'pg_catalog.pg_class'::regclass AND o.conrelid = r.object)
            OR (r.class = 'pg_catalog.pg_type'::regclass AND o.contypid = r.object)
        )
        UNION ALL
        SELECT 'pg_catalog.pg_policy'::regclass, p.oid
        FROM pg_catalog.pg_policy AS p
        WHERE r.class = 'pg_catalog.pg_class'::regclass AND p.polrelid = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_statistic_ext'::regclass, s.oid
        FROM pg_catalog.pg_statistic_ext AS s
        WHERE r.class = 'pg_catalog.pg_class'::regclass AND s.stxrelid = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_class'::regclass, t.typrelid
        FROM pg_catalog.pg_type AS t
        WHERE r.class = 'pg_catalog.pg_type'::regclass AND t.oid = r.object AND t.typrelid <> 0
        UNION ALL
        SELECT 'pg_catalog.pg_proc'::regclass, k.castfunc
        FROM pg_catalog.pg_cast AS k
        WHERE r.class = 'pg_catalog.pg_type'::regclass AND r.object IN (k.castsource, k.casttarget) AND k.castfunc <> 0
    ) AS step
)

SELECT 'function' AS kind, p.oid::regprocedure::text AS name
FROM reached AS r
JOIN pg_catalog.pg_proc AS p ON r.class = 'pg_catalog.pg_proc'::regclass AND p.oid = r.object
JOIN pg_catalog.pg_roles AS o ON o.oid = p.proowner
WHERE NOT o.rolsuper AND o.rolname <> 'kanon_owner'
UNION ALL
SELECT 'view', c.oid::regclass::text
FROM reached AS r
JOIN pg_catalog.pg_class AS c ON r.class = 'pg_catalog.pg_class'::regclass AND c.oid = r.object
WHERE c.relkind = 'v' AND EXISTS (
    SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) AS q
    WHERE q.option_name = 'security_invoker' AND q.option_value::boolean
)
ORDER BY kind, name
LIMIT 1
) AS found
$function$;
ALTER FUNCTION kanon.foreign_code(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.foreign_code(regclass) FROM PUBLIC;
COMMENT ON FUNCTION kanon.foreign_code(regclass) IS
'Names a function or view by which reading a relation would lend the reader''s rights to others than superusers; NULL if there is none.';

-- Runs with the caller's rights: gives the owner role what it needs to read a base table.
CREATE OR REPLACE FUNCTION kanon.lend(relation regclass)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM kanon.lend_to(lend.relation, 'kanon_owner');
END
$function$;
ALTER FUNCTION kanon.lend(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.lend(regclass) FROM PUBLIC;
COMMENT ON FUNCTION kanon.lend(regclass) IS
'Grants the owner role SELECT on a base table and USAGE on its schema, if the caller may grant them.';

-- Runs with the caller's rights: gives a role of kanon_pg what it needs to read a table.
CREATE OR REPLACE FUNCTION kanon.lend_to(relation regclass, borrower name)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    base record;
BEGIN
    SELECT c.oid, c.relname, c.relpersistence, c.relnamespace, n.nspname INTO base
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = lend_to.relation AND c.relkind IN ('r', 'p', 'v', 'm', 'f');
    IF NOT FOUND OR base.relpersistence = 't' THEN
        RETURN;  -- refused later, with a sentence of its own
    END IF;
    FOR attempt IN 1..3 LOOP
        BEGIN
            IF NOT pg_catalog.has_schema_privilege(lend_to.borrower, base.relnamespace, 'USAGE')
                AND pg_catalog.has_schema_privilege(base.relnamespace, 'USAGE WITH GRANT OPTION') THEN
                EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', base.nspname, lend_to.borrower);
            END IF;
            IF NOT pg_catalog.has_table_privilege(lend_to.borrower, base.oid, 'SELECT')
                AND pg_catalog.has_table_privilege(base.oid, 'SELECT WITH GRANT OPTION') THEN
                EXECUTE pg_catalog.format('GRANT SELECT ON %I.%I TO %I', base.nspname, base.relname,
                    lend_to.borrower);
            END IF;
            RETURN;
        EXCEPTION
            -- "tuple concurrently updated": another session lends at the same time, and has committed now.
            WHEN internal_error THEN
                IF attempt = 3 THEN
                    RAISE;
                END IF;
        END;
    END LOOP;
END
$function$;
ALTER FUNCTION kanon.lend_to(regclass, name) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.lend_to(regclass, name) FROM PUBLIC;
COMMENT ON FUNCTION kanon.lend_to(regclass, name) IS
'Grants a role SELECT on a table and USAGE on its schema, if the caller may grant them.';

-- Makes a view of a catalog with the columns that this server's version has.
CREATE OR REPLACE FUNCTION kanon.mirror_catalog(catalog name, shown text, masks jsonb DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    columns text;
BEGIN
    SELECT pg_catalog.string_agg(
        pg_catalog.format('%s AS %I', coalesce(mirror_catalog.masks ->> a.attname::text, pg_catalog.format('c.%I', a.attname)), a.attname),
        ', ' ORDER BY a.attnum
    ) INTO columns
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = pg_catalog.format('pg_catalog.%I', mirror_catalog.catalog)::regclass
        AND a.attnum > 0 AND NOT a.attisdropped;
    -- another version of the server may have other columns, which OR REPLACE cannot change
    EXECUTE pg_catalog.format('DROP VIEW IF EXISTS kanon_catalog.%I', mirror_catalog.catalog);
    EXECUTE pg_catalog.format(
        'CREATE VIEW kanon_catalog.%1$I WITH (security_barrier) AS SELECT %2$s FROM pg_catalog.%1$I AS c %3$s',
        mirror_catalog.catalog, columns, mirror_catalog.shown
    );
    EXECUTE pg_catalog.format('ALTER VIEW kanon_catalog.%I OWNER TO kanon_owner', mirror_catalog.catalog);
    EXECUTE pg_catalog.format('REVOKE ALL ON TABLE kanon_catalog.%I FROM PUBLIC', mirror_catalog.catalog);
    EXECUTE pg_catalog.format('GRANT SELECT ON TABLE kanon_catalog.%I TO kanon_analyst', mirror_catalog.catalog);
    EXECUTE pg_catalog.format(
        'COMMENT ON VIEW kanon_catalog.%1$I IS ''Stands for pg_catalog.%1$s where tools ask through the gateway.''',
        mirror_catalog.catalog
    );
END
$function$;
ALTER FUNCTION kanon.mirror_catalog(name, text, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.mirror_catalog(name, text, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION kanon.mirror_catalog(name, text, jsonb) IS
'Makes a view in kanon_catalog with the columns of a catalog, less what is not shown; called by the installer.';

-- Counts the classes of a release by their size in people, although the release does not tell whose rows it has:
-- only the owner role can. Nothing but counts leaves.
CREATE OR REPLACE FUNCTION kanon.release_class_sizes(
    release text,
    OUT people bigint,
    OUT classes bigint,
    OUT rows bigint,
    OUT homogeneous bigint[],
    OUT homogeneous_rows bigint[]
)
RETURNS SETOF record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    facts record;
    keys text;
    size text;
    same text;
    counted text;
    counted_rows text;
BEGIN
    SELECT r.storage, r.quasi_identifiers, r.sensitive, r.entity INTO facts
    FROM kanon.release AS r WHERE r.name = release_class_sizes.release;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF kanon.foreign_code(facts.storage) IS NOT NULL THEN
        RAISE insufficient_privilege USING MESSAGE = 'Reading the release would run the code of others.';
    END IF;
    SELECT string_agg(format('r.%I', key), ', ') INTO keys
    FROM unnest(facts.quasi_identifiers || 'kanon_pattern'::name) AS key;
    size := CASE
        WHEN facts.entity IS NULL THEN 'count(*)' ELSE 'greatest(1, count(DISTINCT r.kanon_person))'
    END;
    -- A class gives a value away if it has only one, NULL being a value.
    SELECT
        coalesce(string_agg(format(', count(DISTINCT r.%1$I) + (count(*) > count(r.%1$I))::integer = 1 AS same_%2$s',
            name, place), ''), ''),
        coalesce(string_agg(format('count(*) FILTER (WHERE same_%s)', place), ', ' ORDER BY place), ''),
        coalesce(string_agg(format('coalesce(sum(n) FILTER (WHERE same_%s), 0)::bigint', place), ', ' ORDER BY place),
            '')
    INTO same, counted, counted_rows
    FROM unnest(facts.sensitive) WITH ORDINALITY AS s (name, place);
    RETURN QUERY EXECUTE format(
        'SELECT size::bigint, count(*), sum(n)::bigint, ARRAY[%s]::bigint[], ARRAY[%s]::bigint[] '
        'FROM (SELECT %s AS size, count(*) AS n%s FROM %s AS r GROUP BY %s) AS class GROUP BY size ORDER BY size',
        counted, counted_rows, size, same, facts.storage, keys
    );
END
$function$;
ALTER FUNCTION kanon.release_class_sizes(text) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.release_class_sizes(text) FROM PUBLIC;
COMMENT ON FUNCTION kanon.release_class_sizes(text) IS
'Counts the classes of a release by their size in people, and those in which everybody has the same sensitive value; called by kanon_risk and kanon_is_anonymous.';

-- Counts classes of fewer than k people, with the caller's rights; what goes wrong becomes a sentence, so that
-- one relation which cannot be read hides no other. Whoever polls many relations has not looked at each of them,
-- so that none may run its owner's code with the caller's rights; the lock keeps what was judged.
CREATE OR REPLACE FUNCTION kanon.small_classes(
    relation regclass,
    keys name[],
    person name,
    k integer,
    OUT smallest_class bigint,
    OUT classes_at_risk bigint,
    OUT people_at_risk bigint,
    OUT rows_at_risk bigint,
    OUT problem text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    key_list CONSTANT text := (SELECT string_agg(format('r.%I', key), ', ') FROM unnest(keys) AS key);
    size CONSTANT text := CASE
        WHEN person IS NULL THEN 'count(*)'
        ELSE format('greatest(1, count(DISTINCT r.%I))', person)
    END;
BEGIN
    IF key_list IS NULL THEN
        problem := 'No quasi-identifier is declared.';
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM pg_class AS c WHERE c.oid = relation AND c.relkind IN ('r', 'p', 'v')) THEN
        EXECUTE format('LOCK TABLE %s IN ACCESS SHARE MODE', relation);
    END IF;
    IF kanon.foreign_code(relation) IS NOT NULL THEN
        problem := 'Reading it would run the code of others with the rights of whoever asks.';
        RETURN;
    END IF;
    -- Who is in several small classes counts for each of them.
    EXECUTE format(
        'SELECT min(size), count(*) FILTER (WHERE size < $1), '
        'coalesce(sum(size) FILTER (WHERE size < $1), 0), coalesce(sum(n) FILTER (WHERE size < $1), 0) '
        'FROM (SELECT %s AS size, count(*) AS n FROM %s AS r GROUP BY %s) AS class',
        size, relation, key_list
    )
    INTO smallest_class, classes_at_risk, people_at_risk, rows_at_risk
    USING k;
EXCEPTION
    WHEN insufficient_privilege THEN
        problem := 'The caller may not read it.';
    WHEN undefined_table OR undefined_column OR syntax_error THEN
        problem := 'It was dropped or changed since.';
    WHEN OTHERS THEN
        problem := format('It could not be counted (SQLSTATE %s).', SQLSTATE);
END
$function$;
ALTER FUNCTION kanon.small_classes(regclass, name[], name, integer) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.small_classes(regclass, name[], name, integer) FROM PUBLIC;
COMMENT ON FUNCTION kanon.small_classes(regclass, name[], name, integer) IS
'Counts classes of fewer than k people in a relation with the caller''s rights; called by kanon.violations.';

-- Counts classes of fewer than k people in a release, in people although the release does not tell whose rows
-- it has: only the owner role can. Nothing but four counts leaves.
CREATE OR REPLACE FUNCTION kanon.small_release_classes(
    release text,
    OUT smallest_class bigint,
    OUT classes_at_risk bigint,
    OUT people_at_risk bigint,
    OUT rows_at_risk bigint,
    OUT problem text
)
RETURNS record
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT c.*
    FROM kanon.release AS r
    CROSS JOIN LATERAL kanon.small_classes(
        r.storage,
        r.quasi_identifiers || 'kanon_pattern'::name,
        CASE WHEN r.entity IS NOT NULL THEN 'kanon_person'::name END,
        r.k
    ) AS c
    WHERE r.name = small_release_classes.release;
END;
ALTER FUNCTION kanon.small_release_classes(text) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.small_release_classes(text) FROM PUBLIC;
COMMENT ON FUNCTION kanon.small_release_classes(text) IS
'Counts classes of fewer than k people in a release; called by kanon.violations.';

-- Runs with the caller's rights: takes back what was lent, as far as the caller may. The owner role keeps what
-- a declaration or a release of the table needs; a schema stays open to a role that may read something else in it.
CREATE OR REPLACE FUNCTION kanon.take_back(relation regclass)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    base record;
    borrower name;
BEGIN
    SELECT c.oid, c.relname, n.nspname, n.oid AS schema, n.nspacl AS rights INTO base
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = take_back.relation;
    FOR borrower IN
        SELECT 'kanon_reader'
        UNION ALL
        SELECT 'kanon_owner'
        WHERE NOT EXISTS (SELECT FROM kanon.declarations AS d WHERE d.relation = take_back.relation)
            AND NOT EXISTS (SELECT FROM kanon.releases AS r WHERE r.base = take_back.relation)
    LOOP
        IF EXISTS (
            SELECT
            FROM pg_catalog.pg_class AS c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
            WHERE c.oid = base.oid AND a.grantee = borrower::regrole AND a.privilege_type = 'SELECT'
                AND pg_catalog.pg_has_role(a.grantor, 'USAGE')
        ) THEN
            EXECUTE pg_catalog.format('REVOKE SELECT ON %I.%I FROM %I', base.nspname, base.relname, borrower);
        END IF;
        IF EXISTS (
            SELECT
            FROM pg_catalog.aclexplode(base.rights) AS a
            WHERE a.grantee = borrower::regrole AND a.privilege_type = 'USAGE'
                AND pg_catalog.pg_has_role(a.grantor, 'USAGE')
        ) AND NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_class AS c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
            WHERE c.relnamespace = base.schema AND a.grantee = borrower::regrole
        ) THEN
            EXECUTE pg_catalog.format('REVOKE USAGE ON SCHEMA %I FROM %I', base.nspname, borrower);
        END IF;
    END LOOP;
END
$function$;
ALTER FUNCTION kanon.take_back(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.take_back(regclass) FROM PUBLIC;
COMMENT ON FUNCTION kanon.take_back(regclass) IS
'Revokes lent rights to read a table that nothing of kanon_pg needs any more, as far as the caller may revoke them.';

-- Declarations of tables that still exist.
CREATE OR REPLACE VIEW kanon.declarations AS
SELECT
    d.relation,
    d.identifiers,
    d.quasi_identifiers,
    d.sensitive,
    d.insensitive,
    d.entity,
    d.weights,
    pg_catalog.to_regclass('kanon.' || pg_catalog.quote_ident(d.row_types_view)) AS row_types,
    d.declared_by,
    d.declared_at
FROM kanon.declaration AS d
JOIN pg_catalog.pg_class AS c ON c.oid = d.relation::oid;
ALTER VIEW kanon.declarations OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.declarations FROM PUBLIC;
COMMENT ON VIEW kanon.declarations IS 'The roles that columns play, per declared table.';
COMMENT ON COLUMN kanon.declarations.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.declarations.identifiers IS 'Columns that name a person; never published.';
COMMENT ON COLUMN kanon.declarations.quasi_identifiers IS 'Columns that can be linked with other sources.';
COMMENT ON COLUMN kanon.declarations.sensitive IS 'Columns that must not be learned about a person; published unchanged.';
COMMENT ON COLUMN kanon.declarations.insensitive IS 'Columns published unchanged that tell nothing about a person.';
COMMENT ON COLUMN kanon.declarations.entity IS 'Column that identifies a person who may have several rows.';
COMMENT ON COLUMN kanon.declarations.weights IS 'Cost of a suppressed cell per column; 1 where not mentioned.';
COMMENT ON COLUMN kanon.declarations.row_types IS 'View that counts the row types.';
COMMENT ON COLUMN kanon.declarations.declared_by IS 'Who declared it.';
COMMENT ON COLUMN kanon.declarations.declared_at IS 'When it was declared.';

-- The stored hierarchies in their latest versions; what may hold values is shown to those who may see them.
CREATE OR REPLACE VIEW kanon.hierarchies AS
SELECT
    h.name AS hierarchy,
    h.version,
    h.description,
    h.kind,
    CASE WHEN h.shared OR pg_catalog.pg_has_role(maker.role, 'USAGE') THEN h.spec END AS spec,
    h.output,
    h.height,
    h.nodes,
    h.shared,
    h.created_by,
    h.created_at
FROM kanon.hierarchy AS h
CROSS JOIN LATERAL (SELECT pg_catalog.to_regrole(pg_catalog.quote_ident(h.created_by::text))::oid AS role) AS maker
WHERE NOT EXISTS (SELECT FROM kanon.hierarchy AS later WHERE later.name = h.name AND later.version > h.version);
ALTER VIEW kanon.hierarchies OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.hierarchies FROM PUBLIC;
COMMENT ON VIEW kanon.hierarchies IS 'The stored generalization hierarchies in their latest versions.';
COMMENT ON COLUMN kanon.hierarchies.hierarchy IS 'Name of the hierarchy.';
COMMENT ON COLUMN kanon.hierarchies.version IS 'Counts up each time that the name is stored again.';
COMMENT ON COLUMN kanon.hierarchies.description IS 'What its maker says of it.';
COMMENT ON COLUMN kanon.hierarchies.kind IS 'Where it comes from: rows, table, taxonomy, or the name of a builder.';
COMMENT ON COLUMN kanon.hierarchies.spec IS 'What it was made with; NULL if it is somebody else''s and not shared.';
COMMENT ON COLUMN kanon.hierarchies.output IS 'Type of its nodes, and of a column published with it: text or a range type.';
COMMENT ON COLUMN kanon.hierarchies.height IS 'The top level, at which a cell is suppressed.';
COMMENT ON COLUMN kanon.hierarchies.nodes IS 'Different nodes per level, from the values (level 0) to the top.';
COMMENT ON COLUMN kanon.hierarchies.shared IS 'Whether every curator may see and use it; else its maker only.';
COMMENT ON COLUMN kanon.hierarchies.created_by IS 'Who stored it.';
COMMENT ON COLUMN kanon.hierarchies.created_at IS 'When it was stored.';

-- What the columns of a release are, for whoever may read the release: they see the columns anyway, and can judge
-- the release themselves. Nothing of it is a figure of the base table.
CREATE OR REPLACE VIEW kanon.published_roles WITH (security_barrier) AS
SELECT
    r.name AS release,
    v.oid::regclass AS view,
    r.quasi_identifiers,
    r.sensitive,
    r.insensitive,
    r.entity IS NOT NULL AS counts_people
FROM kanon.release AS r
INNER JOIN pg_catalog.pg_class AS v ON v.relname = r.name::name AND v.relnamespace = 'safe'::regnamespace
WHERE pg_catalog.has_table_privilege(v.oid, 'SELECT');
ALTER VIEW kanon.published_roles OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.published_roles FROM PUBLIC;
COMMENT ON VIEW kanon.published_roles IS 'The roles of the columns of each release that you may read.';
COMMENT ON COLUMN kanon.published_roles.release IS 'Name of the release.';
COMMENT ON COLUMN kanon.published_roles.view IS 'The view to read.';
COMMENT ON COLUMN kanon.published_roles.quasi_identifiers IS 'Columns in which cells may be suppressed.';
COMMENT ON COLUMN kanon.published_roles.sensitive IS 'Sensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.published_roles.insensitive IS 'Insensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.published_roles.counts_people IS
'Whether a person may have several rows, and classes have k people; else they have k rows.';

-- Releases with their parameters, certificate and staleness.
CREATE OR REPLACE VIEW kanon.releases AS
SELECT
    r.name AS release,
    pg_catalog.to_regclass(pg_catalog.format('safe.%I', r.name)) AS view,
    CASE WHEN c.oid IS NOT NULL THEN r.relation END AS base,
    r.storage,
    r.parameters,
    r.quasi_identifiers,
    r.sensitive,
    r.insensitive,
    r.entity,
    r.k,
    r.rows,
    r.people,
    r.row_types,
    r.classes,
    r.smallest_class,
    r.average_class,
    r.largest_class,
    r.suppressed_cells,
    r.suppressed_share,
    r.weighted_cost,
    r.lower_bound,
    r.gap,
    r.optimal,
    r.method,
    r.bound_method,
    r.usefulness,
    r.elapsed,
    -- Counters that went down were reset (crash, restore): how much changed is not known.
    CASE WHEN now_.changes >= r.base_changes_at_publish THEN now_.changes - r.base_changes_at_publish END
        AS changes_since,
    r.published_by,
    r.published_at,
    (r.parameters ->> 'l')::integer AS l,
    (r.parameters ->> 'p')::integer AS p,
    (r.parameters ->> 't')::double precision AS t,
    r.generalized,
    r.certainty_penalty,
    r.generalization_height,
    r.entropy_loss,
    r.marginal_divergence
FROM kanon.release AS r
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = r.relation::oid
CROSS JOIN LATERAL (SELECT kanon.base_changes(r.relation) AS changes) AS now_;
ALTER VIEW kanon.releases OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.releases FROM PUBLIC;
COMMENT ON VIEW kanon.releases IS 'The published releases: where from, with which parameters, what is proven, how stale.';
COMMENT ON COLUMN kanon.releases.release IS 'Name of the release.';
COMMENT ON COLUMN kanon.releases.view IS 'The view that analysts read.';
COMMENT ON COLUMN kanon.releases.base IS 'The base table; NULL if it was dropped.';
COMMENT ON COLUMN kanon.releases.storage IS 'The materialized view behind it; REFRESH MATERIALIZED VIEW brings it up to date.';
COMMENT ON COLUMN kanon.releases.parameters IS 'All arguments of the call that made the release; of hierarchies built for it the name of the builder.';
COMMENT ON COLUMN kanon.releases.quasi_identifiers IS 'Columns in which cells may be suppressed.';
COMMENT ON COLUMN kanon.releases.sensitive IS 'Sensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.releases.insensitive IS 'Insensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.releases.entity IS 'Column that identifies a person; NULL: each row is a person.';
COMMENT ON COLUMN kanon.releases.k IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.rows IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.people IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.row_types IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.classes IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.smallest_class IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.average_class IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.largest_class IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.suppressed_cells IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.suppressed_share IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.weighted_cost IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.lower_bound IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.gap IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.optimal IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.method IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.bound_method IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.usefulness IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.elapsed IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.changes_since IS
'Rows inserted, updated and deleted in the base table since publishing (TRUNCATE is not counted); NULL if unknown.';
COMMENT ON COLUMN kanon.releases.published_by IS 'Who published it.';
COMMENT ON COLUMN kanon.releases.published_at IS 'When it was published.';
COMMENT ON COLUMN kanon.releases.l IS 'The l of l-diversity that every class has in each sensitive column; NULL if not demanded.';
COMMENT ON COLUMN kanon.releases.p IS 'Different values that every class has at least in each sensitive column; NULL if not demanded.';
COMMENT ON COLUMN kanon.releases.t IS 'The t of t-closeness that every class keeps in each sensitive column; NULL if not demanded.';
COMMENT ON COLUMN kanon.releases.generalized IS
'Quasi-identifiers that are published by a hierarchy, as ranges or texts; parameters says by which.';
COMMENT ON COLUMN kanon.releases.certainty_penalty IS 'See kanon.measures; when it was published.';
COMMENT ON COLUMN kanon.releases.generalization_height IS 'See kanon.measures; when it was published.';
COMMENT ON COLUMN kanon.releases.entropy_loss IS 'See kanon.measures; when it was published.';
COMMENT ON COLUMN kanon.releases.marginal_divergence IS 'See kanon.measures; when it was published.';

-- What monitoring polls: declared tables and releases with classes of fewer than k people, counted now.
CREATE OR REPLACE VIEW kanon.violations AS
WITH known AS (
    SELECT
        d.relation,
        p.k AS protection_k,
        (SELECT pg_catalog.max(r.k) FROM kanon.release AS r WHERE r.relation::oid = d.relation::oid) AS release_k,
        d.quasi_identifiers,
        d.entity
    FROM kanon.declaration AS d
    LEFT JOIN kanon.protection AS p ON p.relation::oid = d.relation::oid
),

counted AS (
    SELECT
        'table' AS kind,
        known.relation::text AS relation,
        coalesce(greatest(known.release_k, known.protection_k), 2) AS k,
        CASE
            WHEN known.release_k >= coalesce(known.protection_k, 0) THEN 'release'
            WHEN known.protection_k IS NOT NULL THEN 'protection'
            ELSE 'default'
        END AS k_from,
        small.*
    FROM known
    CROSS JOIN LATERAL kanon.small_classes(
        known.relation,
        known.quasi_identifiers,
        known.entity,
        coalesce(greatest(known.release_k, known.protection_k), 2)
    ) AS small
    UNION ALL
    SELECT
        'release',
        pg_catalog.format('safe.%I', r.name),
        r.k,
        'release',
        small.*
    FROM kanon.release AS r
    CROSS JOIN LATERAL kanon.small_release_classes(r.name) AS small
)

SELECT
    kind,
    relation,
    k,
    k_from,
    smallest_class,
    classes_at_risk,
    people_at_risk,
    rows_at_risk,
    problem
FROM counted
WHERE classes_at_risk > 0 OR problem IS NOT NULL;
ALTER VIEW kanon.violations OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.violations FROM PUBLIC;
COMMENT ON VIEW kanon.violations IS
'Declared tables and releases with classes of fewer than k people, counted whenever it is read; no row for what is as it should be. Raw tables are expected here, releases (kind = ''release'') never.';
COMMENT ON COLUMN kanon.violations.kind IS 'table: declared with kanon_declare. release: published by kanon.';
COMMENT ON COLUMN kanon.violations.relation IS 'The table, or the view in schema safe.';
COMMENT ON COLUMN kanon.violations.k IS 'Fewest people that a class should have.';
COMMENT ON COLUMN kanon.violations.k_from IS 'Where k is from: the largest k of a release of the table, the protection of the table, or 2 by default.';
COMMENT ON COLUMN kanon.violations.smallest_class IS 'People in the smallest class.';
COMMENT ON COLUMN kanon.violations.classes_at_risk IS 'Classes of fewer than k people.';
COMMENT ON COLUMN kanon.violations.people_at_risk IS 'People in these classes; who is in several of them counts for each.';
COMMENT ON COLUMN kanon.violations.rows_at_risk IS 'Rows in these classes.';
COMMENT ON COLUMN kanon.violations.problem IS 'Why nothing could be counted; NULL if it was.';

-- The relations that whoever asks may know of: those that the role may read, and those that answer questions.
CREATE OR REPLACE VIEW kanon.visible_relations WITH (security_barrier) AS
WITH known AS (
    SELECT
        c.oid,
        pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE') AND CASE c.relkind
            WHEN 'c' THEN true
            WHEN 'S' THEN pg_catalog.has_sequence_privilege(c.oid, 'USAGE, SELECT')
            ELSE pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
        END AS readable,
        EXISTS (SELECT FROM kanon.protection AS p WHERE p.relation::oid = c.oid) AS askable
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'c')
        AND n.nspname NOT IN ('kanon', 'kanon_catalog', 'pg_toast')
)
SELECT k.oid, k.readable FROM known AS k WHERE k.readable OR k.askable
UNION ALL
SELECT i.indexrelid, k.readable
FROM known AS k JOIN pg_catalog.pg_index AS i ON i.indrelid = k.oid
WHERE k.readable OR (k.askable AND i.indpred IS NULL AND i.indexprs IS NULL);
ALTER VIEW kanon.visible_relations OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.visible_relations FROM PUBLIC;
COMMENT ON VIEW kanon.visible_relations IS 'What the views of kanon_catalog show: relations that the role may read or ask about.';
COMMENT ON COLUMN kanon.visible_relations.oid IS 'The relation, or an index of it.';
COMMENT ON COLUMN kanon.visible_relations.readable IS 'Whether the role may read it, and not only ask about it.';

-- information_schema.columns, and the columns of relations that can only be asked: their names and types.
DO $columns$
DECLARE
    known CONSTANT jsonb = '{
        "table_catalog": "pg_catalog.current_database()",
        "table_schema": "n.nspname",
        "table_name": "r.relname",
        "column_name": "c.attname",
        "ordinal_position": "c.attnum",
        "is_nullable": "CASE WHEN c.attnotnull THEN ''NO'' ELSE ''YES'' END",
        "data_type": "pg_catalog.format_type(c.atttypid, NULL)",
        "udt_catalog": "pg_catalog.current_database()",
        "udt_schema": "s.nspname",
        "udt_name": "t.typname",
        "dtd_identifier": "c.attnum",
        "is_self_referencing": "''NO''",
        "is_identity": "''NO''",
        "is_generated": "''NEVER''",
        "is_updatable": "''NO''"
    }';
    columns text;
BEGIN
    SELECT pg_catalog.string_agg(
        pg_catalog.format('CAST(%s AS %s)', coalesce(known ->> a.attname::text, 'NULL'), a.atttypid::regtype),
        ', ' ORDER BY a.attnum
    ) INTO columns
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = 'information_schema.columns'::regclass AND a.attnum > 0;
    EXECUTE 'DROP VIEW IF EXISTS kanon_catalog.columns';
    EXECUTE pg_catalog.format(
        $view$
            CREATE VIEW kanon_catalog.columns WITH (security_barrier) AS
            SELECT i.* FROM information_schema.columns AS i WHERE i.table_schema NOT IN ('kanon', 'kanon_catalog')
            UNION ALL
            SELECT %s
            FROM kanon.visible_relations AS v
            JOIN pg_catalog.pg_class AS r ON r.oid = v.oid
            JOIN pg_catalog.pg_namespace AS n ON n.oid = r.relnamespace
            JOIN pg_catalog.pg_attribute AS c ON c.attrelid = r.oid AND c.attnum > 0 AND NOT c.attisdropped
            JOIN pg_catalog.pg_type AS t ON t.oid = c.atttypid
            JOIN pg_catalog.pg_namespace AS s ON s.oid = t.typnamespace
            WHERE NOT v.readable AND r.relkind IN ('r', 'p', 'v')
        $view$,
        columns
    );
END
$columns$;
ALTER VIEW kanon_catalog.columns OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon_catalog.columns FROM PUBLIC;
GRANT SELECT ON TABLE kanon_catalog.columns TO kanon_analyst;
COMMENT ON VIEW kanon_catalog.columns IS 'Stands for information_schema.columns where tools ask through the gateway.';

-- Defaults of columns; they can hold values.
SELECT kanon.mirror_catalog(
    'pg_attrdef',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.adrelid AND v.readable
    $shown$
);

-- Columns. Default values of columns that were added later are values, so they are not shown.
SELECT kanon.mirror_catalog(
    'pg_attribute',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.attrelid
    $shown$,
    $masks${
        "attmissingval": "NULL::text"
    }$masks$
);

-- Relations; of those that can only be asked nothing tells how many rows there are.
SELECT kanon.mirror_catalog(
    'pg_class',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.oid
    $shown$,
    $masks${
        "reltuples": "CASE WHEN v.readable THEN c.reltuples ELSE -1 END",
        "relpages": "CASE WHEN v.readable THEN c.relpages ELSE 0 END",
        "relallvisible": "CASE WHEN v.readable THEN c.relallvisible ELSE 0 END",
        "relallfrozen": "CASE WHEN v.readable THEN c.relallfrozen ELSE 0 END",
        "relpartbound": "CASE WHEN v.readable THEN c.relpartbound ELSE NULL END"
    }$masks$
);

-- Constraints; conditions can hold values, and are shown to readers only.
SELECT kanon.mirror_catalog(
    'pg_constraint',
    $shown$
        LEFT JOIN kanon.visible_relations AS v ON v.oid = c.conrelid WHERE c.conrelid = 0 OR v.readable OR
        (v.oid IS NOT NULL AND c.contype IN ('p', 'u', 'f') AND (c.confrelid = 0 OR EXISTS (SELECT FROM
        kanon.visible_relations AS o WHERE o.oid = c.confrelid)))
    $shown$
);

-- The database that is served.
SELECT kanon.mirror_catalog(
    'pg_database',
    $shown$
        WHERE c.datname = pg_catalog.current_database()
    $shown$
);

-- Comments on what is shown.
SELECT kanon.mirror_catalog(
    'pg_description',
    $shown$
        WHERE c.classoid <> 'pg_catalog.pg_class'::regclass OR EXISTS (SELECT FROM kanon.visible_relations
        AS v WHERE v.oid = c.objoid)
    $shown$
);

-- Indexes.
SELECT kanon.mirror_catalog(
    'pg_index',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.indexrelid
    $shown$
);

-- Indexes of relations that the role may read.
SELECT kanon.mirror_catalog(
    'pg_indexes',
    $shown$
        WHERE EXISTS (SELECT FROM kanon.visible_relations AS v JOIN pg_catalog.pg_class AS r ON r.oid =
        v.oid JOIN pg_catalog.pg_namespace AS n ON n.oid = r.relnamespace WHERE n.nspname = c.schemaname AND
        r.relname = c.tablename AND v.readable)
    $shown$
);

-- Materialized views that the role may read.
SELECT kanon.mirror_catalog(
    'pg_matviews',
    $shown$
        WHERE EXISTS (SELECT FROM kanon.visible_relations AS v JOIN pg_catalog.pg_class AS r ON r.oid =
        v.oid JOIN pg_catalog.pg_namespace AS n ON n.oid = r.relnamespace WHERE n.nspname = c.schemaname AND
        r.relname = c.matviewname AND v.readable)
    $shown$
);

-- Schemas that the role may use, or in which there is something to ask about.
SELECT kanon.mirror_catalog(
    'pg_namespace',
    $shown$
        WHERE c.nspname NOT IN ('kanon', 'kanon_catalog', 'pg_toast') AND
        (pg_catalog.has_schema_privilege(c.oid, 'USAGE') OR EXISTS (SELECT FROM kanon.visible_relations AS v
        JOIN pg_catalog.pg_class AS r ON r.oid = v.oid WHERE r.relnamespace = c.oid))
    $shown$
);

-- Partitioned tables; expressions of keys are for readers.
SELECT kanon.mirror_catalog(
    'pg_partitioned_table',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.partrelid
    $shown$,
    $masks${
        "partexprs": "CASE WHEN v.readable THEN c.partexprs ELSE NULL END"
    }$masks$
);

-- Policies of relations that the role may read.
SELECT kanon.mirror_catalog(
    'pg_policy',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.polrelid AND v.readable
    $shown$
);

-- Functions that the role may call, without their bodies.
SELECT kanon.mirror_catalog(
    'pg_proc',
    $shown$
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.pronamespace WHERE n.nspname NOT IN ('kanon',
        'kanon_catalog') AND pg_catalog.has_function_privilege(c.oid, 'EXECUTE') AND
        pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    $shown$,
    $masks${
        "prosrc": "CASE WHEN n.nspname = 'pg_catalog' THEN c.prosrc ELSE '' END",
        "prosqlbody": "NULL::pg_catalog.pg_node_tree"
    }$masks$
);

-- Published relations that the role may read.
SELECT kanon.mirror_catalog(
    'pg_publication_rel',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.prrelid AND v.readable
    $shown$
);

-- Rules and views; their text is for readers.
SELECT kanon.mirror_catalog(
    'pg_rewrite',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.ev_class
    $shown$,
    $masks${
        "ev_qual": "CASE WHEN v.readable THEN c.ev_qual ELSE NULL END",
        "ev_action": "CASE WHEN v.readable THEN c.ev_action ELSE NULL END"
    }$masks$
);

-- The role itself, those it is a member of, and owners of what is shown.
SELECT kanon.mirror_catalog(
    'pg_roles',
    $shown$
        WHERE pg_catalog.pg_has_role(c.oid, 'MEMBER') OR EXISTS (SELECT FROM kanon.visible_relations AS v
        JOIN pg_catalog.pg_class AS r ON r.oid = v.oid WHERE r.relowner = c.oid)
    $shown$
);

-- Sequences that the role may read.
SELECT kanon.mirror_catalog(
    'pg_sequence',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.seqrelid AND v.readable
    $shown$
);

-- Names of extended statistics of relations that the role may read.
SELECT kanon.mirror_catalog(
    'pg_statistic_ext',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.stxrelid AND v.readable
    $shown$
);

-- Tables.
SELECT kanon.mirror_catalog(
    'pg_tables',
    $shown$
        WHERE EXISTS (SELECT FROM kanon.visible_relations AS v JOIN pg_catalog.pg_class AS r ON r.oid =
        v.oid JOIN pg_catalog.pg_namespace AS n ON n.oid = r.relnamespace WHERE n.nspname = c.schemaname AND
        r.relname = c.tablename)
    $shown$
);

-- Triggers of relations that the role may read.
SELECT kanon.mirror_catalog(
    'pg_trigger',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.tgrelid AND v.readable
    $shown$
);

-- Types, without the row types of relations that are not shown.
SELECT kanon.mirror_catalog(
    'pg_type',
    $shown$
        LEFT JOIN pg_catalog.pg_type AS e ON e.oid = c.typelem AND e.typrelid <> 0 WHERE (c.typrelid = 0 OR
        EXISTS (SELECT FROM kanon.visible_relations AS v WHERE v.oid = c.typrelid)) AND (e.typrelid IS NULL
        OR EXISTS (SELECT FROM kanon.visible_relations AS v WHERE v.oid = e.typrelid))
    $shown$
);

-- Views that the role may read.
SELECT kanon.mirror_catalog(
    'pg_views',
    $shown$
        WHERE EXISTS (SELECT FROM kanon.visible_relations AS v JOIN pg_catalog.pg_class AS r ON r.oid =
        v.oid JOIN pg_catalog.pg_namespace AS n ON n.oid = r.relnamespace WHERE n.nspname = c.schemaname AND
        r.relname = c.viewname AND v.readable)
    $shown$
);

-- information_schema.tables, and the relations that can only be asked.
CREATE OR REPLACE VIEW kanon_catalog.tables WITH (security_barrier) AS
SELECT t.* FROM information_schema.tables AS t WHERE t.table_schema NOT IN ('kanon', 'kanon_catalog')
UNION ALL
SELECT
    pg_catalog.current_database()::information_schema.sql_identifier,
    n.nspname::information_schema.sql_identifier,
    c.relname::information_schema.sql_identifier,
    CASE WHEN c.relkind = 'v' THEN 'VIEW' ELSE 'BASE TABLE' END::information_schema.character_data,
    NULL::information_schema.sql_identifier,
    NULL::information_schema.character_data,
    NULL::information_schema.sql_identifier,
    NULL::information_schema.sql_identifier,
    NULL::information_schema.sql_identifier,
    'NO'::information_schema.yes_or_no,
    'NO'::information_schema.yes_or_no,
    NULL::information_schema.character_data
FROM kanon.visible_relations AS v
JOIN pg_catalog.pg_class AS c ON c.oid = v.oid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE NOT v.readable AND c.relkind IN ('r', 'p', 'v');
ALTER VIEW kanon_catalog.tables OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon_catalog.tables FROM PUBLIC;
GRANT SELECT ON TABLE kanon_catalog.tables TO kanon_analyst;
COMMENT ON VIEW kanon_catalog.tables IS 'Stands for information_schema.tables where tools ask through the gateway.';

-- The size of a database grows with tables that only answer questions: nothing is shown.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_database_size(database name)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT NULL::bigint;
END;
ALTER FUNCTION kanon_catalog.pg_database_size(name) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_database_size(name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_database_size(name) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_database_size(name) IS
'Stands for pg_catalog.pg_database_size where tools ask through the gateway.';

-- The text of a constraint, if it is shown.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_constraintdef(object oid, pretty boolean DEFAULT false)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_constraintdef(object, pretty)
    WHERE EXISTS (SELECT FROM kanon_catalog.pg_constraint AS c WHERE c.oid = object);
END;
ALTER FUNCTION kanon_catalog.pg_get_constraintdef(oid, boolean) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_constraintdef(oid, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_constraintdef(oid, boolean) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_constraintdef(oid, boolean) IS
'Stands for pg_catalog.pg_get_constraintdef where tools ask through the gateway.';

-- The body of a function can hold values: nothing is shown.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_function_sqlbody(function oid)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT NULL::text;
END;
ALTER FUNCTION kanon_catalog.pg_get_function_sqlbody(oid) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_function_sqlbody(oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_function_sqlbody(oid) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_function_sqlbody(oid) IS
'Stands for pg_catalog.pg_get_function_sqlbody where tools ask through the gateway.';

-- The text of an index, if it is shown.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_indexdef(object oid, place integer DEFAULT 0, pretty boolean DEFAULT false)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_indexdef(object, place, pretty)
    WHERE EXISTS (SELECT FROM kanon_catalog.pg_index AS c WHERE c.indexrelid = object);
END;
ALTER FUNCTION kanon_catalog.pg_get_indexdef(oid, integer, boolean) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_indexdef(oid, integer, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_indexdef(oid, integer, boolean) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_indexdef(oid, integer, boolean) IS
'Stands for pg_catalog.pg_get_indexdef where tools ask through the gateway.';

-- The condition of a partition, for those who may read it.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_partition_constraintdef(relation oid)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_partition_constraintdef(relation)
    WHERE pg_catalog.has_table_privilege(relation, 'SELECT');
END;
ALTER FUNCTION kanon_catalog.pg_get_partition_constraintdef(oid) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_partition_constraintdef(oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_partition_constraintdef(oid) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_partition_constraintdef(oid) IS
'Stands for pg_catalog.pg_get_partition_constraintdef where tools ask through the gateway.';

-- The key of a partitioned table, for those who may read it.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_partkeydef(relation oid)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_partkeydef(relation)
    WHERE pg_catalog.has_table_privilege(relation, 'SELECT');
END;
ALTER FUNCTION kanon_catalog.pg_get_partkeydef(oid) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_partkeydef(oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_partkeydef(oid) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_partkeydef(oid) IS
'Stands for pg_catalog.pg_get_partkeydef where tools ask through the gateway.';

-- The text of a rule, for those who may read its relation.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_ruledef(object oid, pretty boolean DEFAULT false)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_ruledef(object, pretty)
    WHERE EXISTS (SELECT FROM kanon_catalog.pg_rewrite AS c WHERE c.oid = object AND c.ev_action IS NOT NULL);
END;
ALTER FUNCTION kanon_catalog.pg_get_ruledef(oid, boolean) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_ruledef(oid, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_ruledef(oid, boolean) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_ruledef(oid, boolean) IS
'Stands for pg_catalog.pg_get_ruledef where tools ask through the gateway.';

-- The columns of extended statistics, for those who may read their relation.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_statisticsobjdef_columns(object oid)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_statisticsobjdef_columns(object)
    WHERE EXISTS (SELECT FROM kanon_catalog.pg_statistic_ext AS c WHERE c.oid = object);
END;
ALTER FUNCTION kanon_catalog.pg_get_statisticsobjdef_columns(oid) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_statisticsobjdef_columns(oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_statisticsobjdef_columns(oid) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_statisticsobjdef_columns(oid) IS
'Stands for pg_catalog.pg_get_statisticsobjdef_columns where tools ask through the gateway.';

-- The text of a trigger, for those who may read its relation.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_triggerdef(object oid, pretty boolean DEFAULT false)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_triggerdef(object, pretty)
    WHERE EXISTS (SELECT FROM kanon_catalog.pg_trigger AS c WHERE c.oid = object);
END;
ALTER FUNCTION kanon_catalog.pg_get_triggerdef(oid, boolean) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_triggerdef(oid, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_triggerdef(oid, boolean) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_triggerdef(oid, boolean) IS
'Stands for pg_catalog.pg_get_triggerdef where tools ask through the gateway.';

-- The text of a view, for those who may read it.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_viewdef(relation oid, pretty boolean DEFAULT false)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_viewdef(relation, pretty)
    WHERE pg_catalog.has_table_privilege(relation, 'SELECT');
END;
ALTER FUNCTION kanon_catalog.pg_get_viewdef(oid, boolean) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_viewdef(oid, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_viewdef(oid, boolean) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_viewdef(oid, boolean) IS
'Stands for pg_catalog.pg_get_viewdef where tools ask through the gateway.';

-- The size of a table's indexes, for those who may read it.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_indexes_size(relation regclass)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_indexes_size(relation)
    WHERE pg_catalog.has_table_privilege(relation, 'SELECT');
END;
ALTER FUNCTION kanon_catalog.pg_indexes_size(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_indexes_size(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_indexes_size(regclass) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_indexes_size(regclass) IS
'Stands for pg_catalog.pg_indexes_size where tools ask through the gateway.';

-- The size of a relation, for those who may read it.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_relation_size(relation regclass, fork text DEFAULT 'main')
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_relation_size(relation, fork)
    WHERE pg_catalog.has_table_privilege(relation, 'SELECT');
END;
ALTER FUNCTION kanon_catalog.pg_relation_size(regclass, text) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_relation_size(regclass, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_relation_size(regclass, text) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_relation_size(regclass, text) IS
'Stands for pg_catalog.pg_relation_size where tools ask through the gateway.';

-- The size of a table, for those who may read it.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_table_size(relation regclass)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_table_size(relation)
    WHERE pg_catalog.has_table_privilege(relation, 'SELECT');
END;
ALTER FUNCTION kanon_catalog.pg_table_size(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_table_size(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_table_size(regclass) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_table_size(regclass) IS
'Stands for pg_catalog.pg_table_size where tools ask through the gateway.';

-- The size of a table with its indexes, for those who may read it.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_total_relation_size(relation regclass)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_total_relation_size(relation)
    WHERE pg_catalog.has_table_privilege(relation, 'SELECT');
END;
ALTER FUNCTION kanon_catalog.pg_total_relation_size(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon_catalog.pg_total_relation_size(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_total_relation_size(regclass) TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_total_relation_size(regclass) IS
'Stands for pg_catalog.pg_total_relation_size where tools ask through the gateway.';

-- The owner role's part of kanon_anonymize.
CREATE OR REPLACE FUNCTION kanon.anonymize(
    relation regclass,
    k integer,
    quasi_identifiers name[],
    sensitive name[],
    method text,
    l integer,
    p integer,
    t double precision,
    patterns jsonb,
    hierarchies jsonb,
    time_limit_seconds double precision,
    release name,
    seed integer,
    options jsonb
)
RETURNS kanon.release_report
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.anonymize(*args)
$function$;
ALTER FUNCTION kanon.anonymize(regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb, double precision,
    name, integer, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.anonymize(regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb, double precision,
    name, integer, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION kanon.anonymize(regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb, double precision,
    name, integer, jsonb) IS
'Publishes a release; called by kanon_anonymize.';

-- Answers a question as texts: the first row has the names of the columns, the second their types.
CREATE OR REPLACE FUNCTION kanon.ask(
    question text,
    parameters text[] DEFAULT NULL,
    schemas name[] DEFAULT pg_catalog.current_schemas(false)
)
RETURNS TABLE (line text[])
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.ask(*args)
$function$;
ALTER FUNCTION kanon.ask(text, text[], name[]) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.ask(text, text[], name[]) FROM PUBLIC;
COMMENT ON FUNCTION kanon.ask(text, text[], name[]) IS
'Answers a question for programs: lines of texts, first the names of the columns, then their types, then the rows.';

-- Finds the sets of columns that single people out, with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.audit(
    relation regclass,
    k integer,
    columns name[],
    max_columns integer,
    time_limit_seconds double precision
)
RETURNS SETOF kanon.violating_set
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.audit(*args)
$function$;
ALTER FUNCTION kanon.audit(regclass, integer, name[], integer, double precision) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.audit(regclass, integer, name[], integer, double precision) FROM PUBLIC;
COMMENT ON FUNCTION kanon.audit(regclass, integer, name[], integer, double precision) IS
'Finds the sets of columns that single people out; called by kanon_audit.';

-- The owner role's part of kanon.restart_ledger.
CREATE OR REPLACE FUNCTION kanon.begin_ledger(relation regclass)
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.restart_ledger(*args)
$function$;
ALTER FUNCTION kanon.begin_ledger(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.begin_ledger(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon.begin_ledger(regclass) TO kanon_curator;
COMMENT ON FUNCTION kanon.begin_ledger(regclass) IS
'Begins a new record of questions; called by kanon.restart_ledger.';

-- Makes the Python package importable in this session and refuses one of another version. Owned by the
-- superuser who installs it, because whoever can change its settings runs code as the server's user; the
-- path stands in the function's own SET clause, where no session can change it.
CREATE OR REPLACE FUNCTION kanon.boot()
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET kanon.python_path = %(python_path)s
SET kanon.version = %(version)s
AS $function$
import json, sys
setting = plpy.execute("select current_setting('kanon.python_path') as path, current_setting('kanon.version') as version")[0]
if "kanon" not in GD:
    folders = json.loads(setting["path"])
    sys.path[:] = folders + [folder for folder in sys.path if folder not in folders]
try:
    import kanon_pg
    import kanon_pg.server
except ImportError as error:
    plpy.error("The server cannot import the Python package kanon_pg.", sqlstate="KA500",
               detail=f"{error}; Python path: {setting['path']}.",
               hint="Make the folders readable to the server's user, or run `kanon install` again.")
if kanon_pg.__version__ != setting["version"]:
    plpy.error("The SQL objects and the Python package kanon_pg are of different versions.", sqlstate="KA501",
               detail=f"SQL: {setting['version']}, Python: {kanon_pg.__version__}.",
               hint="Run `kanon install` with the package that the server uses, then reconnect.")
GD["kanon"] = True
$function$;
REVOKE ALL ON FUNCTION kanon.boot() FROM PUBLIC;
COMMENT ON FUNCTION kanon.boot() IS
'Puts the folders of the Python package first on this session''s path and checks the package''s version.';

-- Builds a hierarchy over a column with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.build_hierarchy(relation regclass, column_name name, spec jsonb, options jsonb)
RETURNS jsonb
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET extra_float_digits = 1
SET bytea_output = 'hex'
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.build_hierarchy(*args)
$function$;
ALTER FUNCTION kanon.build_hierarchy(regclass, name, jsonb, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.build_hierarchy(regclass, name, jsonb, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION kanon.build_hierarchy(regclass, name, jsonb, jsonb) IS
'Builds a hierarchy over a column; called by kanon_hierarchy_build.';

-- Computes a suppression curve with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.curve(
    relation regclass,
    ks integer[],
    quasi_identifiers name[],
    patterns jsonb,
    method text,
    time_limit_seconds double precision,
    seed integer
)
RETURNS SETOF kanon.curve_point
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.curve(*args)
$function$;
ALTER FUNCTION kanon.curve(regclass, integer[], name[], jsonb, text, double precision, integer) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.curve(regclass, integer[], name[], jsonb, text, double precision, integer) FROM PUBLIC;
COMMENT ON FUNCTION kanon.curve(regclass, integer[], name[], jsonb, text, double precision, integer) IS
'Shows what each of several k would cost; called by kanon_curve.';

-- The owner role's part of kanon_declare.
CREATE OR REPLACE FUNCTION kanon.declare(
    relation regclass,
    identifiers name[],
    quasi_identifiers name[],
    sensitive name[],
    insensitive name[],
    entity name,
    weights jsonb
)
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.declare(*args)
$function$;
ALTER FUNCTION kanon.declare(regclass, name[], name[], name[], name[], name, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.declare(regclass, name[], name[], name[], name[], name, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION kanon.declare(regclass, name[], name[], name[], name[], name, jsonb) IS
'Records the roles of a table''s columns; called by kanon_declare.';

-- The owner role's part of kanon_drop.
CREATE OR REPLACE FUNCTION kanon.drop(release name)
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.drop(*args)
$function$;
ALTER FUNCTION kanon.drop(name) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.drop(name) FROM PUBLIC;
COMMENT ON FUNCTION kanon.drop(name) IS
'Drops a release with its storage; called by kanon_drop.';

-- The owner role's part of kanon_hierarchy_drop.
CREATE OR REPLACE FUNCTION kanon.drop_hierarchy(hierarchy name)
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.drop_hierarchy(*args)
$function$;
ALTER FUNCTION kanon.drop_hierarchy(name) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.drop_hierarchy(name) FROM PUBLIC;
COMMENT ON FUNCTION kanon.drop_hierarchy(name) IS
'Forgets a hierarchy; called by kanon_hierarchy_drop.';

-- Groups the values of a column without order, with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.groups(
    relation regclass,
    "column" name,
    k integer,
    method text,
    weight name,
    cost text,
    epsilon double precision,
    time_limit_seconds double precision
)
RETURNS SETOF kanon.value_class
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.groups(*args)
$function$;
ALTER FUNCTION kanon.groups(regclass, name, integer, text, name, text, double precision, double precision) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.groups(regclass, name, integer, text, name, text, double precision, double precision) FROM PUBLIC;
COMMENT ON FUNCTION kanon.groups(regclass, name, integer, text, name, text, double precision, double precision) IS
'Groups the values of a column without order; called by kanon_groups.';

-- The owner role's part of kanon_hierarchy_values.
CREATE OR REPLACE FUNCTION kanon.hierarchy_values(hierarchy name)
RETURNS TABLE (value text, nodes text[])
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.hierarchy_values(*args)
$function$;
ALTER FUNCTION kanon.hierarchy_values(name) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.hierarchy_values(name) FROM PUBLIC;
COMMENT ON FUNCTION kanon.hierarchy_values(name) IS
'Returns the values of a hierarchy; called by kanon_hierarchy_values.';

-- Locks what the question of the call may name, as reading it does.
CREATE OR REPLACE FUNCTION kanon.hold_relations()
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET client_min_messages = error
SET exit_on_error = off
SET plan_cache_mode = force_generic_plan
AS $function$
from kanon_pg import server
return server.hold_relations()
$function$;
ALTER FUNCTION kanon.hold_relations() OWNER TO kanon_reader;
REVOKE ALL ON FUNCTION kanon.hold_relations() FROM PUBLIC;
COMMENT ON FUNCTION kanon.hold_relations() IS
'Keeps the relations that a question may name from being exchanged; called for kanon_query.';

-- Finds few columns that tell rows apart as well as all do, with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.identify(
    relation regclass,
    columns name[],
    time_limit_seconds double precision
)
RETURNS SETOF kanon.identifying_set
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.identify(*args)
$function$;
ALTER FUNCTION kanon.identify(regclass, name[], double precision) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.identify(regclass, name[], double precision) FROM PUBLIC;
COMMENT ON FUNCTION kanon.identify(regclass, name[], double precision) IS
'Finds few columns that tell rows apart as well as all do; called by kanon_identify.';

-- Groups the values of an ordered column into intervals, with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.intervals(
    relation regclass,
    "column" name,
    k integer,
    weight name,
    cost text,
    time_limit_seconds double precision
)
RETURNS SETOF kanon.value_class
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.intervals(*args)
$function$;
ALTER FUNCTION kanon.intervals(regclass, name, integer, name, text, double precision) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.intervals(regclass, name, integer, name, text, double precision) FROM PUBLIC;
COMMENT ON FUNCTION kanon.intervals(regclass, name, integer, name, text, double precision) IS
'Groups the values of an ordered column into intervals; called by kanon_intervals.';

-- Tests k-anonymity with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.is_anonymous(
    relation regclass,
    k integer,
    columns name[]
)
RETURNS boolean
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.is_anonymous(*args)
$function$;
ALTER FUNCTION kanon.is_anonymous(regclass, integer, name[]) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.is_anonymous(regclass, integer, name[]) FROM PUBLIC;
COMMENT ON FUNCTION kanon.is_anonymous(regclass, integer, name[]) IS
'Tests k-anonymity; called by kanon_is_anonymous.';

-- Measures with the caller's own rights. Calls no kanon.boot(): analysts cannot name what is in schema kanon,
-- so kanon_measure boots first.
CREATE OR REPLACE FUNCTION kanon.measure(relation regclass, quasi_identifiers name[], sensitive name[])
RETURNS kanon.measures
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
from kanon_pg import server
return server.measure(*args)
$function$;
ALTER FUNCTION kanon.measure(regclass, name[], name[]) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.measure(regclass, name[], name[]) FROM PUBLIC;
COMMENT ON FUNCTION kanon.measure(regclass, name[], name[]) IS
'Measures the anonymity of a table or view; called by kanon_measure.';

-- The owner role's part of kanon_protect.
CREATE OR REPLACE FUNCTION kanon.protect(relation regclass, k integer, options jsonb)
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.protect(*args)
$function$;
ALTER FUNCTION kanon.protect(regclass, integer, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.protect(regclass, integer, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION kanon.protect(regclass, integer, jsonb) IS
'Stores the rules under which a table answers questions; called by kanon_protect.';

-- The record of questions, for curators. A function, not a view: it reads files.
CREATE OR REPLACE FUNCTION kanon.query_log()
RETURNS TABLE (
    relation text,
    asked_at timestamptz,
    login text,
    role text,
    question text,
    parameters text[],
    outcome text,
    reason text
)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.query_log()
$function$;
ALTER FUNCTION kanon.query_log() OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.query_log() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon.query_log() TO kanon_curator;
COMMENT ON FUNCTION kanon.query_log() IS
'Who asked what about protected tables, when, and whether it was answered; holds nothing of the data.
Example: SELECT * FROM kanon.query_log() WHERE outcome = ''withheld'';';

-- Reads a hierarchy from a table with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.read_hierarchy(relation regclass, options jsonb)
RETURNS jsonb
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET extra_float_digits = 1
SET bytea_output = 'hex'
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.read_hierarchy(*args)
$function$;
ALTER FUNCTION kanon.read_hierarchy(regclass, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.read_hierarchy(regclass, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION kanon.read_hierarchy(regclass, jsonb) IS
'Reads a hierarchy from a table; called by kanon_hierarchy_load.';

-- What kanon_query_record runs for a question.
CREATE OR REPLACE FUNCTION kanon.record_query(sql text, schemas name[], OUT statement text, OUT columns text)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.record_query(*args)
$function$;
ALTER FUNCTION kanon.record_query(text, name[]) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.record_query(text, name[]) FROM PUBLIC;
COMMENT ON FUNCTION kanon.record_query(text, name[]) IS
'The statement that turns the answer of a question into typed rows, and the list of their columns.';

-- Groups points into rectangles, with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.rectangles(
    relation regclass,
    x name,
    y name,
    k integer,
    weight name,
    method text,
    cost text,
    time_limit_seconds double precision
)
RETURNS SETOF kanon.point_class
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.rectangles(*args)
$function$;
ALTER FUNCTION kanon.rectangles(regclass, name, name, integer, name, text, text, double precision) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.rectangles(regclass, name, name, integer, name, text, text, double precision) FROM PUBLIC;
COMMENT ON FUNCTION kanon.rectangles(regclass, name, name, integer, name, text, text, double precision) IS
'Groups points into rectangles; called by kanon_rectangles.';

-- The owner role's part of kanon_refresh.
CREATE OR REPLACE FUNCTION kanon.refresh(release name)
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.refresh(*args)
$function$;
ALTER FUNCTION kanon.refresh(name) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.refresh(name) FROM PUBLIC;
COMMENT ON FUNCTION kanon.refresh(name) IS
'Brings a release up to date; called by kanon_refresh.';

-- Groups the values of a column into regions of neighbours, with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.regions(
    relation regclass,
    "column" name,
    adjacency regclass,
    k integer,
    neighbours name[],
    weight name,
    method text,
    on_light text,
    cost text,
    time_limit_seconds double precision
)
RETURNS SETOF kanon.value_class
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.regions(*args)
$function$;
ALTER FUNCTION kanon.regions(regclass, name, regclass, integer, name[], name, text, text, text, double precision) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.regions(regclass, name, regclass, integer, name[], name, text, text, text, double precision) FROM PUBLIC;
COMMENT ON FUNCTION kanon.regions(regclass, name, regclass, integer, name[], name, text, text, text, double precision) IS
'Groups the values of a column into regions of neighbours; called by kanon_regions.';

-- Begins a new record of questions about a table: the old one is no longer compared with what is asked.
CREATE OR REPLACE FUNCTION kanon.restart_ledger(relation regclass)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('restart_ledger');
    SELECT kanon.begin_ledger(relation);
END;
ALTER FUNCTION kanon.restart_ledger(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.restart_ledger(regclass) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon.restart_ledger(regclass) TO kanon_curator;
COMMENT ON FUNCTION kanon.restart_ledger(regclass) IS
'Begins a new record of questions about a table whose record is missing or no longer fits, for example after a dump was restored. What was answered before is not compared with what is asked from now on, so two answers may then tell about single people. kanon.query_log still shows it.
Example: SELECT kanon.restart_ledger(''patients'');';

-- Says how likely people are found again, with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.risk(
    relation regclass,
    columns name[],
    sensitive name[],
    threshold double precision,
    population regclass,
    sampling_fraction double precision,
    time_limit_seconds double precision
)
RETURNS SETOF kanon.risk
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.risk(*args)
$function$;
ALTER FUNCTION kanon.risk(regclass, name[], name[], double precision, regclass, double precision, double precision) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.risk(regclass, name[], name[], double precision, regclass, double precision, double precision) FROM PUBLIC;
COMMENT ON FUNCTION kanon.risk(regclass, name[], name[], double precision, regclass, double precision, double precision) IS
'Says how likely people are found again; called by kanon_risk.';

-- Does what the call asks for, with the rights of the reading role, in one snapshot, whatever the session has set.
CREATE OR REPLACE FUNCTION kanon.serve_question()
RETURNS void
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET transaction_read_only = on
SET client_min_messages = error
SET exit_on_error = off
SET plan_cache_mode = force_generic_plan
SET datestyle = 'ISO, YMD'
SET intervalstyle = 'postgres'
SET extra_float_digits = 1
SET bytea_output = 'hex'
SET lc_monetary = 'C'
SET lc_numeric = 'C'
SET lc_time = 'C'
SET gin_fuzzy_search_limit = 0
SET jit = off
AS $function$
from kanon_pg import server
return server.serve_question()
$function$;
ALTER FUNCTION kanon.serve_question() OWNER TO kanon_reader;
REVOKE ALL ON FUNCTION kanon.serve_question() FROM PUBLIC;
COMMENT ON FUNCTION kanon.serve_question() IS
'Checks or answers the question of the call; called for kanon_query.';

-- The owner role's part of kanon_hierarchy_show.
CREATE OR REPLACE FUNCTION kanon.show_hierarchy(hierarchy name, most integer)
RETURNS SETOF text
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.show_hierarchy(*args)
$function$;
ALTER FUNCTION kanon.show_hierarchy(name, integer) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.show_hierarchy(name, integer) FROM PUBLIC;
COMMENT ON FUNCTION kanon.show_hierarchy(name, integer) IS
'Shows a hierarchy as a tree; called by kanon_hierarchy_show.';

-- The owner role's part of storing hierarchies.
CREATE OR REPLACE FUNCTION kanon.store_hierarchy(hierarchy name, definition jsonb)
RETURNS integer
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.store_hierarchy(*args)
$function$;
ALTER FUNCTION kanon.store_hierarchy(name, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.store_hierarchy(name, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION kanon.store_hierarchy(name, jsonb) IS
'Checks a hierarchy and stores it; called by kanon_hierarchy_define, kanon_hierarchy_load and kanon_hierarchy_build.';

-- Proposes roles of columns with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.suggest(
    relation regclass,
    time_limit_seconds double precision
)
RETURNS SETOF kanon.suggestion
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.suggest(*args)
$function$;
ALTER FUNCTION kanon.suggest(regclass, double precision) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.suggest(regclass, double precision) FROM PUBLIC;
COMMENT ON FUNCTION kanon.suggest(regclass, double precision) IS
'Proposes roles of columns; called by kanon_suggest.';

-- The owner role's part of kanon_undeclare.
CREATE OR REPLACE FUNCTION kanon.undeclare(relation regclass)
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.undeclare(*args)
$function$;
ALTER FUNCTION kanon.undeclare(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.undeclare(regclass) FROM PUBLIC;
COMMENT ON FUNCTION kanon.undeclare(regclass) IS
'Forgets the roles of a table''s columns; called by kanon_undeclare.';

-- The owner role's part of kanon_unprotect.
CREATE OR REPLACE FUNCTION kanon.unprotect(relation regclass)
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.unprotect(*args)
$function$;
ALTER FUNCTION kanon.unprotect(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.unprotect(regclass) FROM PUBLIC;
COMMENT ON FUNCTION kanon.unprotect(regclass) IS
'Removes the rules under which a table answers questions; called by kanon_unprotect.';

-- Publishes a release.
CREATE OR REPLACE FUNCTION %(api)s.kanon_anonymize(
    relation regclass,
    k integer,
    quasi_identifiers name[] DEFAULT NULL,
    sensitive name[] DEFAULT NULL,
    method text DEFAULT 'auto',
    l integer DEFAULT NULL,
    p integer DEFAULT NULL,
    t double precision DEFAULT NULL,
    patterns jsonb DEFAULT NULL,
    hierarchies jsonb DEFAULT NULL,
    time_limit interval DEFAULT '30 seconds',
    release name DEFAULT NULL,
    seed integer DEFAULT NULL,
    options jsonb DEFAULT NULL
)
RETURNS kanon.release_report
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('anonymize');
    SELECT kanon.lend(relation);
    SELECT * FROM kanon.anonymize(relation, k, quasi_identifiers, sensitive, method, l, p, t, patterns, hierarchies,
        extract(epoch FROM time_limit)::double precision, release, seed, options);
END;
ALTER FUNCTION %(api)s.kanon_anonymize(
    regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb, interval, name, integer,
    jsonb
) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_anonymize(
    regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb, interval, name, integer,
    jsonb
) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_anonymize(
    regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb, interval, name, integer,
    jsonb
) IS
'Publishes a k-anonymous release of a table as a view in schema safe and reports what is proven about it. With l, p or t the sensitive values of every class are diverse, too.
Example: SELECT * FROM kanon_anonymize(''patients'', 5);';

-- Finds the sets of columns that single people out, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION %(api)s.kanon_audit(
    relation regclass,
    k integer,
    columns name[] DEFAULT NULL,
    max_columns integer DEFAULT NULL,
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.violating_set
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT *
    FROM kanon.audit(relation, k, columns, max_columns, extract(epoch FROM time_limit)::double precision);
END;
ALTER FUNCTION %(api)s.kanon_audit(regclass, integer, name[], integer, interval) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_audit(regclass, integer, name[], integer, interval) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_audit(regclass, integer, name[], integer, interval) IS
'Finds every minimal set of columns by which fewer than k people share their values, with the people at risk.
Example: SELECT columns, kind, people_at_risk FROM kanon_audit(''patients'', 5);';

-- Checks a question; reads the catalog only.
CREATE OR REPLACE FUNCTION %(api)s.kanon_check_query(
    sql text,
    schemas name[] DEFAULT pg_catalog.current_schemas(false),
    OUT accepted boolean,
    OUT findings jsonb,
    OUT canonical_sql text,
    OUT outputs jsonb
)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.check_query(*args)
$function$;
ALTER FUNCTION %(api)s.kanon_check_query(text, name[]) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_check_query(text, name[]) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_check_query(text, name[]) IS
'Says whether a question can be asked, what is wrong with it if not, and what would run; touches no data.
Example: SELECT * FROM kanon_check_query(''SELECT name FROM patients'');';

-- Shows what each k costs, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION %(api)s.kanon_curve(
    relation regclass,
    ks integer[] DEFAULT '{2,3,5,10,25,50,100}',
    quasi_identifiers name[] DEFAULT NULL,
    patterns jsonb DEFAULT NULL,
    method text DEFAULT 'auto',
    time_limit interval DEFAULT '30 seconds',
    seed integer DEFAULT NULL
)
RETURNS SETOF kanon.curve_point
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT *
    FROM kanon.curve(relation, ks, quasi_identifiers, patterns, method,
        extract(epoch FROM time_limit)::double precision, seed);
END;
ALTER FUNCTION %(api)s.kanon_curve(regclass, integer[], name[], jsonb, text, interval, integer) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_curve(regclass, integer[], name[], jsonb, text, interval, integer) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_curve(regclass, integer[], name[], jsonb, text, interval, integer) IS
'Shows what each of several k would cost, with proven bounds: counts a table once, publishes nothing.
Example: SELECT k, suppressed_share, gap, classes FROM kanon_curve(''patients'', ''{2,5,10}'');';

-- Records the roles of columns.
CREATE OR REPLACE FUNCTION %(api)s.kanon_declare(
    relation regclass,
    identifiers name[] DEFAULT '{}',
    quasi_identifiers name[] DEFAULT '{}',
    sensitive name[] DEFAULT '{}',
    insensitive name[] DEFAULT '{}',
    entity name DEFAULT NULL,
    weights jsonb DEFAULT NULL
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('declare');
    SELECT kanon.lend(relation);
    SELECT kanon.declare(relation, identifiers, quasi_identifiers, sensitive, insensitive, entity, weights);
END;
ALTER FUNCTION %(api)s.kanon_declare(regclass, name[], name[], name[], name[], name, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_declare(regclass, name[], name[], name[], name[], name, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_declare(regclass, name[], name[], name[], name[], name, jsonb) IS
'Records which roles the columns of a table play, and creates a view of its row types in schema kanon.
Example: SELECT kanon_declare(''patients'', identifiers => ''{name,ssn}'', quasi_identifiers => ''{zip,sex,birth_date}'', sensitive => ''{diagnosis}'');';

-- Drops a release.
CREATE OR REPLACE FUNCTION %(api)s.kanon_drop(release name)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT kanon.drop(release);
END;
ALTER FUNCTION %(api)s.kanon_drop(name) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_drop(name) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_drop(name) IS
'Drops a release and everything it is made of; the base table stays.
Example: SELECT kanon_drop(''patients'');';

-- Groups the values of a column without order, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION %(api)s.kanon_groups(
    relation regclass,
    "column" name,
    k integer,
    method text DEFAULT 'spread',
    weight name DEFAULT NULL,
    cost text DEFAULT 'max',
    epsilon double precision DEFAULT 0.25,
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.value_class
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT *
    FROM kanon.groups(relation, "column", k, method, weight, cost, epsilon,
        extract(epoch FROM time_limit)::double precision);
END;
ALTER FUNCTION %(api)s.kanon_groups(regclass, name, integer, text, name, text, double precision, interval) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_groups(regclass, name, integer, text, name, text, double precision, interval) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_groups(regclass, name, integer, text, name, text, double precision, interval) IS
'Groups the values of a column without order into classes shared by at least k people, with a proven bound.
Example: SELECT DISTINCT label, size, ratio FROM kanon_groups(''patients'', ''diagnosis'', 5);';

-- Lists the functions for users, from their comments.
CREATE OR REPLACE FUNCTION %(api)s.kanon_help()
RETURNS TABLE (function text, arguments text, description text, example text)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        p.proname::text,
        pg_catalog.pg_get_function_arguments(p.oid),
        pg_catalog.split_part(pg_catalog.obj_description(p.oid, 'pg_proc'), E'\nExample: ', 1),
        pg_catalog.split_part(pg_catalog.obj_description(p.oid, 'pg_proc'), E'\nExample: ', 2)
    FROM pg_catalog.pg_proc AS p
    WHERE pg_catalog.starts_with(p.proname, 'kanon_') AND pg_catalog.pg_get_userbyid(p.proowner) = 'kanon_owner'
    ORDER BY p.proname;
END;
ALTER FUNCTION %(api)s.kanon_help() OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_help() FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_help() IS
'Lists the functions of kanon with an example each.
Example: SELECT * FROM kanon_help();';

-- Stores a hierarchy that is built over a column.
CREATE OR REPLACE FUNCTION %(api)s.kanon_hierarchy_build(
    hierarchy name, relation regclass, column_name name, spec jsonb, options jsonb DEFAULT NULL
)
RETURNS integer
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('hierarchy_define');
    SELECT kanon.store_hierarchy(
        hierarchy, kanon.build_hierarchy(relation, column_name, spec, options)
    );
END;
ALTER FUNCTION %(api)s.kanon_hierarchy_build(name, regclass, name, jsonb, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_hierarchy_build(name, regclass, name, jsonb, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_hierarchy_build(name, regclass, name, jsonb, jsonb) IS
'Builds a generalization hierarchy over the values of a column (intervals, dates, prefix, networks, classes, priority), stores it and returns its version.
Example: SELECT kanon_hierarchy_build(''zips'', ''patients'', ''zip'', ''{"builder": "prefix"}'');';

-- Stores a hierarchy that is written out.
CREATE OR REPLACE FUNCTION %(api)s.kanon_hierarchy_define(hierarchy name, rows jsonb, options jsonb DEFAULT NULL)
RETURNS integer
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('hierarchy_define');
    SELECT kanon.store_hierarchy(
        hierarchy, coalesce(options, '{}'::jsonb) || pg_catalog.jsonb_build_object('rows', rows)
    );
END;
ALTER FUNCTION %(api)s.kanon_hierarchy_define(name, jsonb, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_hierarchy_define(name, jsonb, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_hierarchy_define(name, jsonb, jsonb) IS
'Stores a generalization hierarchy that is written out, one list per value with its nodes, and returns its version.
Example: SELECT kanon_hierarchy_define(''wards'', ''[["Cardiology","internal"],["Oncology","internal"],["Surgery","surgical"]]'');';

-- Forgets a hierarchy.
CREATE OR REPLACE FUNCTION %(api)s.kanon_hierarchy_drop(hierarchy name)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('hierarchy_drop');
    SELECT kanon.drop_hierarchy(hierarchy);
END;
ALTER FUNCTION %(api)s.kanon_hierarchy_drop(name) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_hierarchy_drop(name) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_hierarchy_drop(name) IS
'Forgets a stored hierarchy with all its versions; releases made with it stay as they are.
Example: SELECT kanon_hierarchy_drop(''zips'');';

-- Stores a hierarchy that is in a table.
CREATE OR REPLACE FUNCTION %(api)s.kanon_hierarchy_load(hierarchy name, relation regclass, options jsonb DEFAULT NULL)
RETURNS integer
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('hierarchy_define');
    SELECT kanon.store_hierarchy(hierarchy, kanon.read_hierarchy(relation, options));
END;
ALTER FUNCTION %(api)s.kanon_hierarchy_load(name, regclass, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_hierarchy_load(name, regclass, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_hierarchy_load(name, regclass, jsonb) IS
'Stores a generalization hierarchy from a table with a column per level, or of entries with their parents, and returns its version.
Example: SELECT kanon_hierarchy_load(''departments'', ''wards'');';

-- Shows a hierarchy as a tree.
CREATE OR REPLACE FUNCTION %(api)s.kanon_hierarchy_show(hierarchy name, most integer DEFAULT 10)
RETURNS TABLE (tree text)
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('hierarchy_show');
    SELECT s.line FROM kanon.show_hierarchy(hierarchy, most) AS s (line);
END;
ALTER FUNCTION %(api)s.kanon_hierarchy_show(name, integer) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_hierarchy_show(name, integer) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_hierarchy_show(name, integer) IS
'Shows a stored hierarchy as a tree, with so many nodes below each at most.
Example: SELECT * FROM kanon_hierarchy_show(''zips'');';

-- Lists the values of a hierarchy.
CREATE OR REPLACE FUNCTION %(api)s.kanon_hierarchy_values(hierarchy name)
RETURNS TABLE (value text, nodes text[])
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('hierarchy_values');
    SELECT v.value, v.nodes FROM kanon.hierarchy_values(hierarchy) AS v;
END;
ALTER FUNCTION %(api)s.kanon_hierarchy_values(name) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_hierarchy_values(name) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_hierarchy_values(name) IS
'Lists the values of a stored hierarchy with their nodes from level 1.
Example: SELECT * FROM kanon_hierarchy_values(''zips'');';

-- Finds few columns that tell rows apart as well as all do, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION %(api)s.kanon_identify(
    relation regclass,
    columns name[] DEFAULT NULL,
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.identifying_set
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT *
    FROM kanon.identify(relation, columns, extract(epoch FROM time_limit)::double precision);
END;
ALTER FUNCTION %(api)s.kanon_identify(regclass, name[], interval) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_identify(regclass, name[], interval) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_identify(regclass, name[], interval) IS
'Finds a smallest and a minimal set of columns that tells rows apart as well as all columns together do.
Example: SELECT columns, kind, at_least FROM kanon_identify(''patients'');';

-- Checks the installation.
CREATE OR REPLACE FUNCTION %(api)s.kanon_install_check()
RETURNS TABLE (item text, ok boolean, detail text, hint text)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.install_check()
$function$;
ALTER FUNCTION %(api)s.kanon_install_check() OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_install_check() FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_install_check() IS
'Proves on this server that everything works, in seconds; leaves nothing behind.
Example: SELECT * FROM kanon_install_check();';

-- Groups the values of an ordered column into intervals, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION %(api)s.kanon_intervals(
    relation regclass,
    "column" name,
    k integer,
    weight name DEFAULT NULL,
    cost text DEFAULT 'max',
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.value_class
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT *
    FROM kanon.intervals(relation, "column", k, weight, cost,
        extract(epoch FROM time_limit)::double precision);
END;
ALTER FUNCTION %(api)s.kanon_intervals(regclass, name, integer, name, text, interval) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_intervals(regclass, name, integer, name, text, interval) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_intervals(regclass, name, integer, name, text, interval) IS
'Groups the values of an ordered column into intervals shared by at least k people, at the least cost there is.
Example: SELECT DISTINCT label, size FROM kanon_intervals(''patients'', ''birth_date'', 5);';

-- Tests k-anonymity with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION %(api)s.kanon_is_anonymous(
    relation regclass,
    k integer,
    columns name[] DEFAULT NULL
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT kanon.is_anonymous(relation, k, columns);
END;
ALTER FUNCTION %(api)s.kanon_is_anonymous(regclass, integer, name[]) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_is_anonymous(regclass, integer, name[]) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_is_anonymous(regclass, integer, name[]) IS
'Tests whether every combination of quasi-identifier values, or of values of the given columns, is shared by at least k people.
Example: SELECT kanon_is_anonymous(''safe.patients'', 5);';

-- Measures a table or view. The statements are parsed when the function is created: that is why roles
-- without USAGE on schema kanon can call it.
CREATE OR REPLACE FUNCTION %(api)s.kanon_measure(
    relation regclass,
    quasi_identifiers name[] DEFAULT NULL,
    sensitive name[] DEFAULT NULL
)
RETURNS kanon.measures
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT kanon.boot();
    SELECT * FROM kanon.measure(relation, quasi_identifiers, sensitive);
END;
ALTER FUNCTION %(api)s.kanon_measure(regclass, name[], name[]) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_measure(regclass, name[], name[]) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_measure(regclass, name[], name[]) IS
'Measures how anonymous a table or view is: k, l, p, t and related figures, risks and information loss.
Example: SELECT * FROM kanon_measure(''safe.patients'');';

-- Lets a table answer questions.
CREATE OR REPLACE FUNCTION %(api)s.kanon_protect(relation regclass, k integer DEFAULT 5, options jsonb DEFAULT NULL)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('protect');
    SELECT kanon.lend(relation);
    SELECT kanon.lend_to(relation, 'kanon_reader');
    SELECT kanon.protect(relation, k, options);
END;
ALTER FUNCTION %(api)s.kanon_protect(regclass, integer, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_protect(regclass, integer, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_protect(regclass, integer, jsonb) IS
'Lets analysts ask questions about a table with kanon_query, under the rule that at least k people stand behind every part of an answer.
Example: SELECT kanon_protect(''patients'', 5);';

-- Answers a question, one JSON object per row. The default of `schemas` is evaluated where the caller can see it:
-- inside, the search path is pinned.
CREATE OR REPLACE FUNCTION %(api)s.kanon_query(
    sql text,
    parameters text[] DEFAULT NULL,
    schemas name[] DEFAULT pg_catalog.current_schemas(false)
)
RETURNS SETOF jsonb
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.query(*args)
$function$;
ALTER FUNCTION %(api)s.kanon_query(text, text[], name[]) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_query(text, text[], name[]) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_query(text, text[], name[]) IS
'Answers a question about protected tables if at least k people stand behind every part of the answer.
Example: SELECT * FROM kanon_query(''SELECT diagnosis, count(*) FROM patients GROUP BY diagnosis'');';

-- Answers a question as rows of the types that the caller writes down. The types of the caller's list are converted
-- to with the caller's rights: they may be the caller's own.
CREATE OR REPLACE FUNCTION %(api)s.kanon_query_record(
    sql text,
    parameters text[] DEFAULT NULL,
    schemas name[] DEFAULT pg_catalog.current_schemas(false)
)
RETURNS SETOF record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    plan record;
    mismatch text;
BEGIN
    SELECT r.statement, r.columns INTO plan FROM kanon.record_query(sql, schemas) AS r;
    BEGIN
        RETURN QUERY EXECUTE plan.statement USING sql, parameters, schemas;
    EXCEPTION
        WHEN datatype_mismatch THEN
            GET STACKED DIAGNOSTICS mismatch = PG_EXCEPTION_DETAIL;
            RAISE EXCEPTION USING
                ERRCODE = 'KA100',
                MESSAGE = 'The list of columns is not that of the answer.',
                DETAIL = mismatch,
                HINT = pg_catalog.format('Write: SELECT * FROM kanon_query_record(...) AS t (%s);', plan.columns);
    END;
END
$function$;
ALTER FUNCTION %(api)s.kanon_query_record(text, text[], name[]) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_query_record(text, text[], name[]) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_query_record(text, text[], name[]) IS
'Answers a question as kanon_query does, as rows with the columns that the caller lists.
Example: SELECT * FROM kanon_query_record(''SELECT sex, count(*) FROM patients GROUP BY sex'') AS t (sex text, count bigint);';

-- Groups points into rectangles, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION %(api)s.kanon_rectangles(
    relation regclass,
    x name,
    y name,
    k integer,
    weight name DEFAULT NULL,
    method text DEFAULT 'kd',
    cost text DEFAULT 'max',
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.point_class
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT *
    FROM kanon.rectangles(relation, x, y, k, weight, method, cost,
        extract(epoch FROM time_limit)::double precision);
END;
ALTER FUNCTION %(api)s.kanon_rectangles(regclass, name, name, integer, name, text, text, interval) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_rectangles(regclass, name, name, integer, name, text, text, interval) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_rectangles(regclass, name, name, integer, name, text, text, interval) IS
'Groups points of the plane into rectangles that contain at least k people each and do not overlap.
Example: SELECT DISTINCT rectangle::text, size FROM kanon_rectangles(''zips'', ''longitude'', ''latitude'', 150, weight => ''people'');';

-- Brings a release up to date.
CREATE OR REPLACE FUNCTION %(api)s.kanon_refresh(release name)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT kanon.refresh(release);
END;
ALTER FUNCTION %(api)s.kanon_refresh(name) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_refresh(name) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_refresh(name) IS
'Brings a release up to date with its base table, under the same rules and guarantees.
Example: SELECT kanon_refresh(''patients'');';

-- Groups the values of a column into regions of neighbours, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION %(api)s.kanon_regions(
    relation regclass,
    "column" name,
    adjacency regclass,
    k integer,
    neighbours name[] DEFAULT NULL,
    weight name DEFAULT NULL,
    method text DEFAULT 'moves',
    on_light text DEFAULT 'other',
    cost text DEFAULT 'max',
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.value_class
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT *
    FROM kanon.regions(relation, "column", adjacency, k, neighbours, weight, method, on_light, cost,
        extract(epoch FROM time_limit)::double precision);
END;
ALTER FUNCTION %(api)s.kanon_regions(regclass, name, regclass, integer, name[], name, text, text, text, interval) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_regions(regclass, name, regclass, integer, name[], name, text, text, text, interval) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_regions(regclass, name, regclass, integer, name[], name, text, text, text, interval) IS
'Groups the values of a column into connected regions shared by at least k people; a second table has the pairs of neighbours.
Example: SELECT DISTINCT label, size FROM kanon_regions(''patients'', ''zip'', ''zip_neighbours'', 150);';

-- Says how likely people are found again, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION %(api)s.kanon_risk(
    relation regclass,
    columns name[] DEFAULT NULL,
    sensitive name[] DEFAULT NULL,
    threshold double precision DEFAULT 0.2,
    population regclass DEFAULT NULL,
    sampling_fraction double precision DEFAULT NULL,
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.risk
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT *
    FROM kanon.risk(relation, columns, sensitive, threshold, population, sampling_fraction,
        extract(epoch FROM time_limit)::double precision);
END;
ALTER FUNCTION %(api)s.kanon_risk(regclass, name[], name[], double precision, regclass, double precision, interval) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_risk(regclass, name[], name[], double precision, regclass, double precision, interval) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_risk(regclass, name[], name[], double precision, regclass, double precision, interval) IS
'Says how likely people are found again in a table and, in further rows, in its releases: prosecutor, journalist and marketer risk, unique people, homogeneous classes.
Example: SELECT relation, prosecutor_risk, marketer_risk, share_above FROM kanon_risk(''patients'');';

-- Proposes roles of columns with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION %(api)s.kanon_suggest(
    relation regclass,
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.suggestion
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT *
    FROM kanon.suggest(relation, extract(epoch FROM time_limit)::double precision);
END;
ALTER FUNCTION %(api)s.kanon_suggest(regclass, interval) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_suggest(regclass, interval) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_suggest(regclass, interval) IS
'Proposes a role for each column of a table, with reasons from keys, types, names and statistics; declares nothing.
Example: SELECT "column", role, reasons FROM kanon_suggest(''patients'');';

-- Forgets the roles of columns.
CREATE OR REPLACE FUNCTION %(api)s.kanon_undeclare(relation regclass)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('undeclare');
    SELECT kanon.undeclare(relation);
    SELECT kanon.take_back(relation);
END;
ALTER FUNCTION %(api)s.kanon_undeclare(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_undeclare(regclass) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_undeclare(regclass) IS
'Forgets which roles the columns of a table play, and takes back lent rights to read it that nothing needs any more; releases stay.
Example: SELECT kanon_undeclare(''patients'');';

-- Ends that a table answers questions.
CREATE OR REPLACE FUNCTION %(api)s.kanon_unprotect(relation regclass)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO kanon.request (operation) VALUES ('unprotect');
    SELECT kanon.unprotect(relation);
    SELECT kanon.take_back(relation);
END;
ALTER FUNCTION %(api)s.kanon_unprotect(regclass) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_unprotect(regclass) FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_unprotect(regclass) IS
'Ends that a table answers questions, and takes back the rights to read it that kanon_protect lent; what was asked about it stays recorded.
Example: SELECT kanon_unprotect(''patients'');';

-- Shows versions; kanon.boot() refuses a package of another version.
CREATE OR REPLACE FUNCTION %(api)s.kanon_version()
RETURNS TABLE (sql_version text, package_version text, python_version text, server_version text)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.version()
$function$;
ALTER FUNCTION %(api)s.kanon_version() OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION %(api)s.kanon_version() FROM PUBLIC;
COMMENT ON FUNCTION %(api)s.kanon_version() IS
'Shows the versions of the SQL objects, the Python package, the server''s Python and the server; refuses a mismatch.
Example: SELECT * FROM kanon_version();';

-- The record of questions as a view, for curators.
CREATE OR REPLACE VIEW kanon.query_log AS
SELECT relation, asked_at, login, role, question, parameters, outcome, reason
FROM kanon.query_log();
ALTER VIEW kanon.query_log OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.query_log FROM PUBLIC;
GRANT SELECT ON TABLE kanon.query_log TO kanon_curator;
COMMENT ON VIEW kanon.query_log IS
'Who asked what about protected tables, when, and whether it was answered; holds nothing of the data.';
COMMENT ON COLUMN kanon.query_log.relation IS 'The protected table.';
COMMENT ON COLUMN kanon.query_log.asked_at IS 'When it was asked.';
COMMENT ON COLUMN kanon.query_log.login IS 'The session''s login, whose budget counts.';
COMMENT ON COLUMN kanon.query_log.role IS 'The role whose rights counted.';
COMMENT ON COLUMN kanon.query_log.question IS 'The question as it was written.';
COMMENT ON COLUMN kanon.query_log.parameters IS 'Its values.';
COMMENT ON COLUMN kanon.query_log.outcome IS 'answered or withheld.';
COMMENT ON COLUMN kanon.query_log.reason IS 'Why it was withheld; told to nobody else.';

-- Who may do what. Everything was closed to PUBLIC when it was created; this file opens, and comes last.

GRANT USAGE ON SCHEMA safe TO kanon_analyst;
GRANT SELECT ON ALL TABLES IN SCHEMA safe TO kanon_analyst;
GRANT USAGE ON SCHEMA kanon TO kanon_analyst;
GRANT SELECT ON TABLE kanon.published_roles TO kanon_analyst;

GRANT USAGE ON SCHEMA kanon TO kanon_curator;
GRANT SELECT ON TABLE kanon.declarations, kanon.hierarchies, kanon.releases, kanon.violations TO kanon_curator;
GRANT INSERT (operation) ON TABLE kanon.request TO kanon_curator;
GRANT USAGE ON TYPE kanon.release_report TO kanon_curator;
GRANT EXECUTE ON FUNCTION
    kanon.lend(regclass), kanon.lend_to(regclass, name), kanon.take_back(regclass), kanon.base_changes(regclass),
    kanon.foreign_code(regclass), kanon.small_classes(regclass, name[], name, integer),
    kanon.small_release_classes(text), kanon.release_class_sizes(text)
TO kanon_curator;

GRANT USAGE ON SCHEMA kanon TO kanon_reader;
GRANT SELECT ON TABLE kanon.declaration, kanon.protection, kanon.release TO kanon_reader;

-- What a question reads must not show in the statistics, which all roles can see.
DO $counting$
BEGIN
    IF pg_catalog.current_setting('server_version_num')::integer >= 150000 THEN
        GRANT SET ON PARAMETER track_counts TO kanon_reader;
    END IF;
END
$counting$;

GRANT EXECUTE ON FUNCTION kanon.boot() TO kanon_owner, kanon_curator, kanon_analyst;
GRANT EXECUTE ON FUNCTION
    kanon.declare(regclass, name[], name[], name[], name[], name, jsonb),
    kanon.undeclare(regclass),
    kanon.protect(regclass, integer, jsonb),
    kanon.unprotect(regclass),
    kanon.anonymize(
        regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb,
        double precision, name, integer, jsonb
    ),
    kanon.curve(regclass, integer[], name[], jsonb, text, double precision, integer),
    kanon.refresh(name),
    kanon.drop(name),
    kanon.store_hierarchy(name, jsonb),
    kanon.read_hierarchy(regclass, jsonb),
    kanon.build_hierarchy(regclass, name, jsonb, jsonb),
    kanon.hierarchy_values(name),
    kanon.show_hierarchy(name, integer),
    kanon.drop_hierarchy(name)
TO kanon_curator;
GRANT EXECUTE ON FUNCTION
    kanon.measure(regclass, name[], name[]),
    kanon.audit(regclass, integer, name[], integer, double precision),
    kanon.identify(regclass, name[], double precision),
    kanon.is_anonymous(regclass, integer, name[]),
    kanon.suggest(regclass, double precision),
    kanon.risk(regclass, name[], name[], double precision, regclass, double precision, double precision),
    kanon.intervals(regclass, name, integer, name, text, double precision),
    kanon.groups(regclass, name, integer, text, name, text, double precision, double precision),
    kanon.regions(regclass, name, regclass, integer, name[], name, text, text, text, double precision),
    kanon.rectangles(regclass, name, name, integer, name, text, text, double precision)
TO kanon_analyst;

-- Analysts may name what serves their questions; the two functions of the reading role do nothing by themselves.
GRANT EXECUTE ON FUNCTION
    kanon.ask(text, text[], name[]),
    kanon.record_query(text, name[]),
    kanon.hold_relations(),
    kanon.serve_question()
TO kanon_analyst;
GRANT USAGE ON TYPE
    kanon.measures, kanon.violating_set, kanon.identifying_set, kanon.suggestion, kanon.risk,
    kanon.value_class, kanon.point_class
TO kanon_analyst;
GRANT USAGE ON TYPE kanon.curve_point TO kanon_curator;

GRANT USAGE ON SCHEMA %(api)s TO kanon_curator, kanon_analyst;
GRANT EXECUTE ON FUNCTION
    %(api)s.kanon_declare(regclass, name[], name[], name[], name[], name, jsonb),
    %(api)s.kanon_undeclare(regclass),
    %(api)s.kanon_protect(regclass, integer, jsonb),
    %(api)s.kanon_unprotect(regclass),
    %(api)s.kanon_anonymize(
        regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb,
        interval, name, integer, jsonb
    ),
    %(api)s.kanon_curve(regclass, integer[], name[], jsonb, text, interval, integer),
    %(api)s.kanon_refresh(name),
    %(api)s.kanon_drop(name),
    %(api)s.kanon_hierarchy_define(name, jsonb, jsonb),
    %(api)s.kanon_hierarchy_load(name, regclass, jsonb),
    %(api)s.kanon_hierarchy_build(name, regclass, name, jsonb, jsonb),
    %(api)s.kanon_hierarchy_values(name),
    %(api)s.kanon_hierarchy_show(name, integer),
    %(api)s.kanon_hierarchy_drop(name)
TO kanon_curator;
GRANT EXECUTE ON FUNCTION
    %(api)s.kanon_measure(regclass, name[], name[]),
    %(api)s.kanon_audit(regclass, integer, name[], integer, interval),
    %(api)s.kanon_identify(regclass, name[], interval),
    %(api)s.kanon_is_anonymous(regclass, integer, name[]),
    %(api)s.kanon_suggest(regclass, interval),
    %(api)s.kanon_risk(regclass, name[], name[], double precision, regclass, double precision, interval),
    %(api)s.kanon_intervals(regclass, name, integer, name, text, interval),
    %(api)s.kanon_groups(regclass, name, integer, text, name, text, double precision, interval),
    %(api)s.kanon_regions(regclass, name, regclass, integer, name[], name, text, text, text, interval),
    %(api)s.kanon_rectangles(regclass, name, name, integer, name, text, text, interval),
    %(api)s.kanon_query(text, text[], name[]),
    %(api)s.kanon_query_record(text, text[], name[]),
    %(api)s.kanon_check_query(text, name[]),
    %(api)s.kanon_help(),
    %(api)s.kanon_version(),
    %(api)s.kanon_install_check()
TO kanon_analyst;
