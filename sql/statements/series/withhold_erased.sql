-- Withholds the cohorts of which somebody was erased.
UPDATE {{ cohorts }} SET is_shown = false
WHERE cohort IN (SELECT m.cohort FROM {{ members }} AS m WHERE m.erased)
