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
            method text,
            termination text
        );
    ELSIF NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute
        WHERE attrelid = 'kanon.point_class'::pg_catalog.regclass AND attname = 'termination' AND NOT attisdropped
    ) THEN
        ALTER TYPE kanon.point_class ADD ATTRIBUTE termination text;
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
COMMENT ON COLUMN kanon.point_class.termination IS 'How the search ended: optimal (proven), exhausted (nothing better found), time (time_limit was over).';
GRANT USAGE ON TYPE kanon.point_class TO kanon_analyst;
