-- Publishes a release through the server's own function; its arguments are the parameters, in their order.
SELECT
    r.release, r.k, r.rows, r.people, r.row_types, r.classes, r.smallest_class, r.average_class, r.largest_class,
    r.suppressed_cells, r.suppressed_share, r.weighted_cost, r.lower_bound, r.gap, r.optimal, r.method,
    r.bound_method, r.usefulness, extract(EPOCH FROM r.elapsed)::double precision AS elapsed,
    r.termination
FROM kanon_anonymize(
{{ arguments }}
) AS r
