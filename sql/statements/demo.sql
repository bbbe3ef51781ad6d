-- name: demo_create_database(): Makes the demo's database.
CREATE DATABASE {{ database }}

-- name: demo_create_patients(): The demo's table: one row per admission.
CREATE TABLE patients (
    patient_id integer NOT NULL, first_name text NOT NULL, last_name text NOT NULL, ssn text NOT NULL, birth_date date NOT NULL,
    sex text NOT NULL, zip text NOT NULL, ethnicity text NOT NULL, admission_date date NOT NULL, ward text NOT NULL,
    diagnosis text NOT NULL, cost numeric(12, 2) NOT NULL
)

-- name: demo_create_readers(): Makes sure of the demo's two readers: a login without any right, and one with nothing but the
-- analyst role.
DO $demo$
BEGIN
    IF pg_catalog.to_regrole('{{ reader }}') IS NULL THEN
        CREATE ROLE {{ reader }} LOGIN;
    END IF;
    IF pg_catalog.to_regrole('{{ analyst }}') IS NULL THEN
        CREATE ROLE {{ analyst }} LOGIN;
    END IF;
    GRANT kanon_analyst TO {{ analyst }};
END
$demo$

-- name: demo_drop_database(): Drops the database of an earlier demo, with whoever still looks at it.
DROP DATABASE IF EXISTS {{ database }} WITH (FORCE)
