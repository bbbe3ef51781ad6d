-- Marks the values of a generalized column that rows have.
UPDATE {{ table }} AS {{ known }} SET kanon_seen = true
WHERE NOT {{ known }}.kanon_seen AND EXISTS (
    SELECT FROM (SELECT {{ spelled }} AS {{ alias }} FROM {{ relation }} AS rows) AS base
    WHERE {{ knows }}
)
