-- Four registers of people as their statisticians keep them: a clinic's stays, a census, personnel, a shop's orders.
-- Who counts as a person, and which columns play which role, is in tests/query/registers.py.

create function public.drawn(number integer, salt text, size integer) returns integer language sql immutable
    return (('x' || substr(md5(salt || number), 1, 7))::bit(28)::integer % size);

-- public tables

create table public.wards (
    ward text primary key,
    title text not null,
    building text not null,
    beds integer not null,
    specialty text not null
);

create table public.diagnoses (
    code text primary key,
    chapter text not null,
    chronic boolean not null
);

create table public.regions (
    region text primary key,
    state text not null,
    area numeric not null,
    population integer not null,
    urban boolean not null
);

create table public.departments (
    department integer primary key,
    name text not null,
    division text not null,
    budget numeric not null,
    positions integer not null
);

create table public.products (
    product integer primary key,
    category text not null,
    price numeric not null
);

create table public.stores (
    store integer primary key,
    city text not null,
    region text not null,
    sqm integer not null
);

-- protected tables

create table public.stays (
    stay_id integer primary key,
    patient_id integer not null,
    name text not null,
    birth_date date not null,
    sex text not null,
    zip text not null,
    admitted timestamp not null,
    discharged timestamp,
    admission_day date not null,
    discharge_day date,
    ward text not null references public.wards,
    diagnosis text not null references public.diagnoses,
    cost numeric(10, 2) not null,
    los integer,
    severity integer not null,
    readmitted boolean not null,
    died boolean not null
);

create table public.residents (
    person_id integer primary key,
    name text not null,
    birth_date date not null,
    birth_year integer not null,
    sex text not null,
    region text not null references public.regions,
    citizenship text not null,
    marital text not null,
    education text not null,
    occupation text,
    income numeric(10, 2),
    hours integer,
    commute integer,
    rooms integer not null,
    unemployed boolean not null
);

create table public.employees (
    employee_id integer primary key,
    name text not null,
    email text not null unique,
    birth_date date not null,
    gender text not null,
    hired date not null,
    left_on date,
    department integer not null references public.departments,
    site text not null,
    grade text not null,
    salary numeric(10, 2) not null,
    bonus numeric(10, 2),
    rating integer,
    fte double precision not null,
    sick_days integer not null
);

create table public.customers (
    customer_id integer primary key,
    email text not null unique,
    birth_date date not null,
    gender text not null,
    zip text not null,
    segment text not null,
    signup date not null,
    newsletter boolean not null
);

create table public.orders (
    order_id integer primary key,
    customer_id integer not null references public.customers,
    ordered_at timestamptz not null,
    shipped_at timestamptz,
    store integer not null references public.stores,
    product integer not null references public.products,
    channel text not null,
    status text not null,
    amount numeric(10, 2) not null,
    discount numeric(10, 2),
    items integer not null,
    returned boolean not null
);

insert into public.wards values
    ('cardiology', 'Heart', 'A', 60, 'internal medicine'),
    ('oncology', 'Tumors', 'A', 45, 'internal medicine'),
    ('surgery', 'Surgery', 'B', 70, 'surgery'),
    ('orthopedics', 'Bones', 'B', 50, 'surgery'),
    ('neurology', 'Nerves', 'C', 40, 'neurology'),
    ('palliative', 'Palliative care', 'C', 12, 'palliative care');

insert into public.diagnoses values
    ('I10', 'circulatory', true), ('I21', 'circulatory', false), ('C34', 'neoplasms', true),
    ('C50', 'neoplasms', true), ('E11', 'endocrine', true), ('J18', 'respiratory', false),
    ('K35', 'digestive', false), ('S72', 'injuries', false);

insert into public.regions
    select 'R' || i, (array['North', 'East', 'South', 'West'])[i % 4 + 1], 100 + 35 * i, 20000 + 3100 * i, i % 3 = 0
    from generate_series(1, 12) as i;

insert into public.departments
    select i, (array['Sales', 'IT', 'Finance', 'Production', 'Research', 'Service', 'Legal', 'People'])[i],
        case when i in (2, 3, 7, 8) then 'Central' else 'Business' end, 1000000 + 250000 * i, 60 + 10 * i
    from generate_series(1, 8) as i;

insert into public.products
    select i, (array['Books', 'Music', 'Garden', 'Toys'])[i % 4 + 1], 5 + 3.5 * i from generate_series(1, 20) as i;

insert into public.stores
    select i, 'City ' || i, (array['North', 'East', 'South'])[i % 3 + 1], 200 + 60 * i from generate_series(1, 9) as i;

insert into public.stays
    select i, p, 'Patient ' || p, date '1932-01-01' + public.drawn(p, 'born', 28000),
        (array['F', 'M'])[public.drawn(p, 'sex', 2) + 1], '10' || 100 + public.drawn(p, 'zip', 20), t,
        case when public.drawn(i, 'open', 20) > 0 then t + d * interval '1 hour' end, t::date,
        case when public.drawn(i, 'open', 20) > 0 then (t + d * interval '1 hour')::date end,
        (array['cardiology', 'oncology', 'surgery', 'orthopedics', 'neurology'])[public.drawn(i, 'ward', 5) + 1],
        (array['I10', 'I21', 'C34', 'C50', 'E11', 'J18', 'K35', 'S72'])[public.drawn(i, 'code', 8) + 1],
        300 + public.drawn(i, 'cost', 900000) / 100.0,
        case when public.drawn(i, 'open', 20) > 0 then d / 24 end, public.drawn(i, 'severity', 5) + 1,
        public.drawn(i, 'again', 5) = 0, public.drawn(i, 'died', 12) = 0
    from (
        select i, public.drawn(i, 'patient', 2400) as p, 6 + public.drawn(i, 'hours', 480) as d,
            timestamp '2022-01-01 06:00' + public.drawn(i, 'day', 1096) * interval '1 day'
                + public.drawn(i, 'minute', 900) * interval '1 minute' as t
        from generate_series(1, 4000) as i
    ) as stay;

insert into public.residents
    select i, 'Resident ' || i, b, extract(year from b)::integer, (array['F', 'M'])[public.drawn(i, 'sex', 2) + 1],
        'R' || public.drawn(i, 'region', 12) + 1,
        (array['domestic', 'domestic', 'domestic', 'foreign'])[public.drawn(i, 'nation', 4) + 1],
        (array['single', 'married', 'divorced', 'widowed'])[public.drawn(i, 'marital', 4) + 1],
        (array['basic', 'secondary', 'tertiary'])[public.drawn(i, 'school', 3) + 1],
        case when public.drawn(i, 'job', 3) > 0 then
            (array['nurse', 'teacher', 'clerk', 'engineer', 'driver'])[public.drawn(i, 'which', 5) + 1] end,
        case when public.drawn(i, 'told', 10) > 0 then 12000 + public.drawn(i, 'income', 6000000) / 100.0 end,
        case when public.drawn(i, 'job', 3) > 0 then 10 + public.drawn(i, 'hours', 35) end,
        case when public.drawn(i, 'job', 3) > 0 then public.drawn(i, 'way', 90) end,
        1 + public.drawn(i, 'rooms', 6), public.drawn(i, 'idle', 14) = 0
    from (
        select i, date '1935-01-01' + public.drawn(i, 'birth', 31000) as b from generate_series(1, 4000) as i
    ) as resident;

insert into public.employees
    select i, 'Employee ' || i, 'e' || i || '@firm.example', date '1960-01-01' + public.drawn(i, 'born', 15000),
        (array['f', 'm'])[public.drawn(i, 'gender', 2) + 1], h,
        case when public.drawn(i, 'gone', 6) = 0 then h + 200 + public.drawn(i, 'stay', 700) end,
        public.drawn(i, 'department', 8) + 1, (array['Berlin', 'Hamburg', 'Remote'])[public.drawn(i, 'site', 3) + 1],
        (array['junior', 'senior', 'lead'])[public.drawn(i, 'grade', 3) + 1],
        32000 + public.drawn(i, 'salary', 7000000) / 100.0,
        case when public.drawn(i, 'paid', 3) > 0 then public.drawn(i, 'bonus', 900000) / 100.0 end,
        case when public.drawn(i, 'rated', 8) > 0 then public.drawn(i, 'rating', 5) + 1 end,
        (array[0.5, 0.75, 1.0])[public.drawn(i, 'fte', 3) + 1], public.drawn(i, 'sick', 25)
    from (
        select i, date '2012-01-01' + public.drawn(i, 'hired', 4000) as h from generate_series(1, 2000) as i
    ) as employee;

insert into public.customers
    select i, 'c' || i || '@mail.example', date '1945-01-01' + public.drawn(i, 'born', 21000),
        (array['f', 'm', 'x'])[public.drawn(i, 'gender', 3) + 1], '20' || 100 + public.drawn(i, 'zip', 15),
        (array['new', 'regular', 'gold'])[public.drawn(i, 'segment', 3) + 1],
        date '2020-01-01' + public.drawn(i, 'signup', 1400), public.drawn(i, 'news', 2) = 0
    from generate_series(1, 1500) as i;

insert into public.orders
    select i, public.drawn(i, 'who', 1500) + 1, t,
        case when public.drawn(i, 'open', 15) > 0 then t + public.drawn(i, 'wait', 200) * interval '1 hour' end,
        public.drawn(i, 'store', 9) + 1, public.drawn(i, 'product', 20) + 1,
        (array['web', 'app', 'store'])[public.drawn(i, 'channel', 3) + 1],
        (array['paid', 'shipped', 'cancelled', 'refunded'])[public.drawn(i, 'status', 4) + 1],
        5 + public.drawn(i, 'amount', 40000) / 100.0,
        case when public.drawn(i, 'reduced', 3) = 0 then public.drawn(i, 'discount', 900) / 100.0 end,
        1 + public.drawn(i, 'items', 6), public.drawn(i, 'returned', 9) = 0
    from (
        select i, timestamptz '2022-01-01 00:00+00' + public.drawn(i, 'when', 1095 * 24) * interval '1 hour' as t
        from generate_series(1, 6000) as i
    ) as ordered;

drop function public.drawn(integer, text, integer);
