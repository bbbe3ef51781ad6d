-- Marks the values of a generalized column that rows have.
UPDATE {{ table }} AS known SET kanon_seen = true
WHERE NOT known.kanon_seen AND EXISTS (
    SELECT FROM (SELECT {{ expression }} AS {{ alias }} FROM {{ relation }}) AS base
    WHERE base.{{ alias }} OPERATOR(pg_catalog.=) known.value
)
