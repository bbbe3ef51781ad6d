-- The highest number of a cohort of which there are members.
SELECT coalesce(max(cohort), 0) AS highest FROM {{ cohorts }}
