-- What becomes of each cohort that is not whole, or was not shown. Together may leave at least k people of whom at
-- least k, or nobody's rows, remain; under a privacy model all of them, so that those who left are diverse, too.
CREATE TABLE {{ fates }} AS
SELECT
    counted.*,
    CASE
        WHEN left_rows = 0 THEN CASE WHEN present_people >= {{ k }} THEN 'shown' ELSE 'withheld' END
        WHEN left_people >= {{ k }} AND (present_rows = 0{% if not whole %} OR present_people >= {{ k }}{% endif %}) THEN 'leaving'
{% if leavers == "show" and not whole %}
        ELSE 'leaving'
{% else %}
{% if leavers == "retain" %}
        WHEN NOT erased AND {{ version }} - first_left < {{ longest_retain }} THEN 'retained'
{% endif %}
        ELSE 'withheld'
{% endif %}
    END AS fate
FROM (
    SELECT
        m.cohort,
        count(*) FILTER (WHERE m.left_in IS NULL) AS present_rows,
        count(*) FILTER (WHERE m.left_in IS NOT NULL) AS left_rows,
        -- a DISTINCT count sorts the rows of these cohorts
{% if entity %}
        count(DISTINCT m.person) FILTER (WHERE m.left_in IS NULL) AS present_people,
        count(DISTINCT m.person) FILTER (WHERE m.left_in IS NOT NULL) AS left_people,
{% else %}
        count(*) FILTER (WHERE m.left_in IS NULL) AS present_people,
        count(*) FILTER (WHERE m.left_in IS NOT NULL) AS left_people,
{% endif %}
        min(m.left_in) AS first_left,
        pg_catalog.bool_or(m.erased) AS erased
    FROM {{ members }} AS m
    WHERE m.cohort IN (
        SELECT a.cohort FROM {{ members }} AS a WHERE a.left_in IS NOT NULL
        UNION
        SELECT c.cohort FROM {{ cohorts }} AS c WHERE NOT c.is_shown
    )
    GROUP BY m.cohort
) AS counted
