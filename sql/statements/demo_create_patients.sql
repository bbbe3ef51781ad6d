-- The demo's table: one row per admission.
CREATE TABLE patients (
    patient_id integer NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    ssn text NOT NULL,
    birth_date date NOT NULL,
    sex text NOT NULL,
    zip text NOT NULL,
    ethnicity text NOT NULL,
    admission_date date NOT NULL,
    ward text NOT NULL,
    diagnosis text NOT NULL,
    cost numeric(12, 2) NOT NULL
)
