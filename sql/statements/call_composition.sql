-- Compares releases through the server's own function; its arguments are the parameters, in their order.
SELECT releases, k, people, smallest, average, people_below, unseen_rows
FROM kanon_composition(
{{ arguments }}
)
