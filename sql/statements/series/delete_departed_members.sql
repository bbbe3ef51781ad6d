-- Removes the published cells of those who leave.
DELETE FROM {{ members }} AS m
USING {{ fates }} AS f
WHERE f.cohort = m.cohort AND f.fate = 'leaving' AND m.left_in IS NOT NULL
