-- The tables of the how-to pages: 1,200 admissions of 1,000 people, and which ward belongs to which department.
CREATE TABLE patients (
    admission integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    patient_id integer NOT NULL,
    name text NOT NULL,
    ssn text NOT NULL,
    birth_date date NOT NULL,
    sex text NOT NULL,
    zip text NOT NULL,
    ward text NOT NULL,
    diagnosis text NOT NULL,
    cost numeric(10, 2) NOT NULL
);

INSERT INTO patients (patient_id, name, ssn, birth_date, sex, zip, ward, diagnosis, cost)
SELECT
    person,
    'Person ' || person,
    '999-00-' || to_char(person, 'FM0000'),
    date '1930-01-01' + person * 29 % 29000,
    CASE person % 2 WHEN 0 THEN 'F' ELSE 'M' END,
    to_char(100 + (person * person) % 23, 'FM00000'),
    (ARRAY['Cardiology', 'Oncology', 'Surgery'])[1 + number % 3],
    (ARRAY['Angina', 'Melanoma', 'Appendicitis', 'Fall'])[1 + number % 4],
    1000 + number % 97 * 50
FROM (SELECT number, 1 + number % 1000 AS person FROM generate_series(1, 1200) AS number) AS admissions;

CREATE TABLE wards (ward text PRIMARY KEY, department text NOT NULL);
INSERT INTO wards VALUES ('Cardiology', 'internal'), ('Oncology', 'internal'), ('Surgery', 'surgical');

CREATE TABLE zips AS
SELECT
    zip,
    round((-70 - number * 0.31 % 1.7)::numeric, 2) AS longitude,
    round((40 + number * 0.47 % 1.3)::numeric, 2) AS latitude,
    people
FROM (
    SELECT zip, row_number() OVER (ORDER BY zip) AS number, count(DISTINCT patient_id) AS people
    FROM patients
    GROUP BY zip
) AS counted;

CREATE TABLE zip_neighbours AS
SELECT zip, lead(zip) OVER (ORDER BY zip) AS neighbour FROM zips;
