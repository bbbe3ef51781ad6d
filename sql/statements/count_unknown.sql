-- How many rows have values that the hierarchies of a release do not know, one number per generalized column.
SELECT * FROM {{ view }}
