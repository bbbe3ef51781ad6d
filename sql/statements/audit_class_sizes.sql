-- How many classes of a release have how many people, in how many of them all have the same sensitive value, and how
-- many different people have no smaller one of either kind.
-- $1 text
SELECT
    people,
    classes,
    rows,
    homogeneous,
    homogeneous_rows,
    different_people,
    homogeneous_people
FROM kanon.release_class_sizes($1::text)
