-- How many classes of a release have how many people, and in how many of them all have the same sensitive value.
-- $1 text
SELECT
    people,
    classes,
    rows,
    homogeneous,
    homogeneous_rows
FROM kanon.release_class_sizes($1::text)
