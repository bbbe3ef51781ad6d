-- Whether a relation has no rows.
SELECT NOT EXISTS (SELECT FROM {{ relation }}) AS empty
