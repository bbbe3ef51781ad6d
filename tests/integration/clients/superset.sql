-- What Superset sends: charts over tables and over queries, grains of time, filters; the catalog by SQLAlchemy.

-- data: a chart
SELECT ward AS ward, COUNT(*) AS count
FROM public.patients GROUP BY ward ORDER BY count DESC
LIMIT 1000;

-- data: names of metrics
SELECT ward AS ward, COUNT(*) AS "COUNT(*)", AVG(cost) AS "AVG(cost)"
FROM public.patients GROUP BY ward ORDER BY "COUNT(*)" DESC
LIMIT 10000;

-- data: a grain of time
SELECT DATE_TRUNC('year', birth_date) AS birth_date, COUNT(*) AS count
FROM public.patients GROUP BY DATE_TRUNC('year', birth_date) ORDER BY count DESC
LIMIT 10000;

-- data: a range of time
SELECT sex AS sex, COUNT(*) AS count
FROM public.patients
WHERE birth_date >= TO_DATE('1950-01-01', 'YYYY-MM-DD') AND birth_date < TO_DATE('1990-01-01', 'YYYY-MM-DD')
GROUP BY sex
LIMIT 50000;

-- data: a chart over a query
SELECT ward AS ward, sum(n) AS "SUM(n)"
FROM (SELECT ward, sex, count(*) AS n FROM patients GROUP BY ward, sex
) AS virtual_table GROUP BY ward ORDER BY "SUM(n)" DESC
LIMIT 100;

-- data: values of a filter
SELECT ward AS ward
FROM public.patients GROUP BY ward ORDER BY ward ASC
LIMIT 1000;

-- data: SQL Lab
SELECT ward, sex, count(*) FROM patients GROUP BY ward, sex
LIMIT 1001;
