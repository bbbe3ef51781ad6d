-- Changes the record of a release that was brought up to date; columns that the object does not have stay.
-- $1 text
-- $2 text
UPDATE kanon.release AS r SET
    storage = n.storage,
    rows = n.rows,
    people = n.people,
    classes = n.classes,
    smallest_class = n.smallest_class,
    average_class = n.average_class,
    largest_class = n.largest_class,
    suppressed_cells = n.suppressed_cells,
    suppressed_share = n.suppressed_share,
    weighted_cost = n.weighted_cost,
    lower_bound = n.lower_bound,
    gap = n.gap,
    optimal = n.optimal,
    bound_method = n.bound_method,
    usefulness = n.usefulness,
    base_changes_at_publish = n.base_changes_at_publish,
    refreshed_at = pg_catalog.now()
FROM pg_catalog.jsonb_populate_record(
    (SELECT o FROM kanon.release AS o WHERE o.name = $1::text), $2::text::jsonb
) AS n
WHERE r.name = $1::text
