-- Records what became of each cohort. The rows that are counted are those whose cells are stored.
UPDATE {{ cohorts }} AS c
SET
    rows = CASE WHEN f.fate = 'leaving' THEN f.present_rows ELSE c.rows END,
    people = CASE WHEN f.fate = 'leaving' THEN f.present_people ELSE c.people END,
    is_shown = f.fate IN ('shown', 'retained') OR (f.fate = 'leaving' AND f.present_people >= {{ k }})
FROM {{ fates }} AS f
WHERE f.cohort = c.cohort
