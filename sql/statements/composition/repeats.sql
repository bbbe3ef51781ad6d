-- Whether two rows have one identity.
SELECT count(*) > count(DISTINCT read.kanon_row) AS repeats FROM {{ relation }} AS read
