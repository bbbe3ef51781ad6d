-- A hospital: three protected tables that hold patients, and public tables that hold none.
-- Who may read what, and which columns play which role, is in tests/query/hospital.py.

create schema hospital;

-- public: reference data that is in every library

create table hospital.wards (
    ward text primary key,
    title text not null,
    building text not null,
    floor integer not null,
    beds integer not null,
    specialty text not null
);

create table hospital.zip_regions (
    zip text primary key,
    city text not null,
    region text not null,
    population integer not null,
    urban boolean not null
);

create table hospital.calendar (
    day date primary key,
    year integer not null,
    quarter integer not null,
    month integer not null,
    week integer not null,
    is_weekend boolean not null,
    is_holiday boolean not null
);

create table hospital.icd_codes (
    code text primary key,
    chapter text not null,
    description text not null,
    chronic boolean not null
);

-- protected: every row belongs to the person patient_id

create table hospital.patients (
    patient_id integer primary key,
    name text not null,
    ssn text not null unique,
    birth_date date not null,
    sex text not null,
    zip text not null references hospital.zip_regions,
    ethnicity text not null,
    admission_date date not null references hospital.calendar,
    discharge_date date,
    ward text not null references hospital.wards,
    diagnosis text not null references hospital.icd_codes,
    cost numeric(10, 2) not null,
    readmitted boolean not null
);

create table hospital.visits (
    visit_id integer primary key,
    patient_id integer not null references hospital.patients,
    visited_at timestamp not null,
    department text not null references hospital.wards,
    kind text not null,
    physician text not null,
    minutes integer not null,
    fee numeric(8, 2)
);

create table hospital.lab_results (
    result_id integer not null,
    patient_id integer not null references hospital.patients,
    taken_on date not null,
    test text not null,
    value double precision,
    abnormal boolean not null
) partition by range (taken_on);

create table hospital.lab_results_2022 partition of hospital.lab_results
    for values from ('2022-01-01') to ('2023-01-01');
create table hospital.lab_results_2023 partition of hospital.lab_results
    for values from ('2023-01-01') to ('2024-01-01');
create table hospital.lab_results_2024 partition of hospital.lab_results
    for values from ('2024-01-01') to ('2026-01-01');

-- protected because they depend on protected tables, whatever they are called

create table hospital.old_visits () inherits (hospital.visits);

create view hospital.stays as
    select patient_id, ward, birth_date, zip, cost, discharge_date - admission_date as days
    from hospital.patients;

create view hospital.weather as
    select ward as station, birth_date as day, cost as temperature
    from hospital.stays;

create materialized view hospital.monthly_report as
    select patient_id, birth_date, ward, diagnosis, cost
    from hospital.patients;

-- neither protected nor readable by analysts

create table hospital.payroll (employee text primary key, salary numeric not null);
insert into hospital.payroll values ('Osk', 91000), ('Ulm', 64000);

create sequence hospital.ticket;
