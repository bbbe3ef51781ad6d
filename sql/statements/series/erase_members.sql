-- Erases the stored cells of a person; that there were rows stays, so that their cohorts are withheld.
-- $1 bigint
-- $2 bigint
UPDATE {{ members }} SET
    erased = true,
    left_in = coalesce(left_in, $2::bigint){% for c in cells %},
    {{ c.cell }} = NULL{% endfor %}

WHERE person = $1::bigint
