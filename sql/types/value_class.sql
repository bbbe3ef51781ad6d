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
            method text,
            termination text
        );
    ELSIF NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute
        WHERE attrelid = 'kanon.value_class'::pg_catalog.regclass AND attname = 'termination' AND NOT attisdropped
    ) THEN
        ALTER TYPE kanon.value_class ADD ATTRIBUTE termination text;
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
COMMENT ON COLUMN kanon.value_class.termination IS 'How the search ended: optimal (proven), exhausted (nothing better found), time (time_limit was over).';
GRANT USAGE ON TYPE kanon.value_class TO kanon_analyst;
