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
GRANT USAGE ON TYPE kanon.measures TO kanon_analyst;
