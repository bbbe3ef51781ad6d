CREATE TABLE kanon."Visits, 2_v1_mapping" (
    row_type bigint NOT NULL,
    pattern bigint NOT NULL,
    price bigint
);
ALTER TABLE kanon."Visits, 2_v1_mapping" OWNER TO kanon_owner;
CREATE TABLE public."Visits, 2" (
    person integer,
    "Über" integer,
    zip integer,
    day date
);
ALTER TABLE public."Visits, 2" OWNER TO postgres;
CREATE MATERIALIZED VIEW kanon."Visits, 2_v1" AS
 WITH base AS (
         SELECT "Visits, 2"."Über" AS q1,
            "Visits, 2".zip AS q2,
            "Visits, 2".person
           FROM public."Visits, 2"
        ), assigned AS (
         SELECT base.q1,
            base.q2,
            base.person,
            mapping.pattern
           FROM (base
             LEFT JOIN kanon."Visits, 2_v1_mapping" mapping ON ((mapping.row_type = hash_record_extended(ROW(base.q1, base.q2), (0)::bigint))))
        ), masked AS (
         SELECT
                CASE
                    WHEN ((COALESCE(assigned.pattern, (3)::bigint) & (1)::bigint) = 0) THEN assigned.q1
                    ELSE NULL::integer
                END AS q1,
                CASE
                    WHEN ((COALESCE(assigned.pattern, (3)::bigint) & (2)::bigint) = 0) THEN assigned.q2
                    ELSE NULL::integer
                END AS q2,
            assigned.person,
            COALESCE(assigned.pattern, (3)::bigint) AS pattern
           FROM assigned
        ), hashed AS (
         SELECT masked.q1,
            masked.q2,
            masked.person,
            masked.pattern,
            hash_record_extended(ROW(masked.q1, masked.q2, masked.pattern), (0)::bigint) AS class_hash
           FROM masked
         OFFSET 0
        ), met AS (
         SELECT hashed.q1,
            hashed.q2,
            hashed.person,
            hashed.pattern,
            hashed.class_hash,
            ((hashed.person IS NOT NULL) AND (row_number() OVER (PARTITION BY hashed.class_hash, hashed.pattern, hashed.q1, hashed.q2, hashed.person) = 1)) AS is_new
           FROM hashed
        ), counted AS (
         SELECT met.q1,
            met.q2,
            met.person,
            met.pattern,
            met.class_hash,
            met.is_new,
            count(*) FILTER (WHERE met.is_new) OVER same_class AS people
           FROM met
          WINDOW same_class AS (PARTITION BY met.class_hash, met.pattern, met.q1, met.q2)
        )
 SELECT counted.q1 AS "Über",
    counted.q2 AS zip,
        CASE
            WHEN (counted.person IS NOT NULL) THEN hash_record_extended(ROW(counted.person), (0)::bigint)
            ELSE NULL::bigint
        END AS kanon_person,
    counted.pattern AS kanon_pattern
   FROM counted
  WHERE (counted.people >= 3)
  ORDER BY (random())
  WITH NO DATA;
ALTER TABLE kanon."Visits, 2_v1" OWNER TO kanon_owner;
CREATE TABLE kanon.diverse_v1_mapping (
    row_type bigint NOT NULL,
    pattern bigint NOT NULL,
    price bigint
);
ALTER TABLE kanon.diverse_v1_mapping OWNER TO kanon_owner;
CREATE TABLE public.patients (
    id integer NOT NULL,
    age integer,
    sex text,
    diagnosis text
);
ALTER TABLE public.patients OWNER TO postgres;
CREATE MATERIALIZED VIEW kanon.diverse_v1 AS
 WITH base AS (
         SELECT patients.age AS q1,
            patients.sex AS q2,
            patients.diagnosis AS s1,
            patients.diagnosis AS c1
           FROM public.patients
        ), assigned AS (
         SELECT base.q1,
            base.q2,
            base.s1,
            base.c1,
            mapping.pattern
           FROM (base
             LEFT JOIN kanon.diverse_v1_mapping mapping ON ((mapping.row_type = hash_record_extended(ROW(base.q1, base.q2, base.s1), (0)::bigint))))
        ), masked AS (
         SELECT
                CASE
                    WHEN ((COALESCE(assigned.pattern, (3)::bigint) & (1)::bigint) = 0) THEN assigned.q1
                    ELSE NULL::integer
                END AS q1,
                CASE
                    WHEN ((COALESCE(assigned.pattern, (3)::bigint) & (2)::bigint) = 0) THEN assigned.q2
                    ELSE NULL::text
                END AS q2,
            assigned.s1,
            assigned.c1,
            COALESCE(assigned.pattern, (3)::bigint) AS pattern
           FROM assigned
        ), hashed AS (
         SELECT masked.q1,
            masked.q2,
            masked.s1,
            masked.c1,
            masked.pattern,
            row_number() OVER () AS row_number,
            hash_record_extended(ROW(masked.q1, masked.q2, masked.pattern), (0)::bigint) AS class_hash
           FROM masked
         OFFSET 0
        ), counted AS (
         SELECT count(*) OVER same_class AS size,
            min(hashed.row_number) OVER same_class AS class,
            hashed.q1,
            hashed.q2,
            hashed.s1,
            hashed.c1,
            hashed.pattern,
            hashed.row_number,
            hashed.class_hash,
            count(*) OVER same_class AS people
           FROM hashed
          WINDOW same_class AS (PARTITION BY hashed.class_hash, hashed.pattern, hashed.q1, hashed.q2)
        ), cell_1 AS (
         SELECT held.class,
            held.size,
            dense_rank() OVER (ORDER BY held.value) AS place,
            held.n,
            (held.size)::double precision AS total
           FROM ( SELECT counted_1.class,
                    counted_1.size,
                    counted_1.s1 AS value,
                    (count(*))::double precision AS n
                   FROM counted counted_1
                  GROUP BY counted_1.class, counted_1.size, counted_1.s1) held
        ), judged_1 AS (
         SELECT cell_1.class
           FROM cell_1
          GROUP BY cell_1.class, cell_1.size, cell_1.total
         HAVING ((count(*) >= 2) AND ((max(cell_1.n) * (2)::double precision) <= (cell_1.size)::double precision))
        ), satisfied AS (
         SELECT judged_1.class
           FROM judged_1
        )
 SELECT counted.q1 AS age,
    (counted.q2 || ''::text) AS sex,
    counted.c1 AS diagnosis,
    counted.pattern AS kanon_pattern
   FROM counted
  WHERE ((counted.people >= 2) AND (counted.class IN ( SELECT s.class
           FROM satisfied s)))
  ORDER BY (random())
  WITH NO DATA;
ALTER TABLE kanon.diverse_v1 OWNER TO kanon_owner;
CREATE TABLE kanon.patients_v1_mapping (
    row_type bigint NOT NULL,
    pattern bigint NOT NULL,
    price bigint
);
ALTER TABLE kanon.patients_v1_mapping OWNER TO kanon_owner;
CREATE TABLE kanon.patients_v1_parts (
    row_type bigint NOT NULL,
    first_row bigint NOT NULL,
    pattern bigint NOT NULL,
    seed bigint NOT NULL,
    CONSTRAINT patients_v1_parts_first_row_check CHECK ((first_row >= 1))
);
ALTER TABLE kanon.patients_v1_parts OWNER TO kanon_owner;
CREATE MATERIALIZED VIEW kanon.patients_v1 AS
 WITH base AS (
         SELECT patients.age AS q1,
            patients.sex AS q2,
            patients.diagnosis AS c1
           FROM public.patients
        ), typed AS MATERIALIZED (
         SELECT base.q1,
            base.q2,
            base.c1,
            hash_record_extended(ROW(base.q1, base.q2), (0)::bigint) AS row_type
           FROM base
        ), divided AS MATERIALIZED (
         SELECT patients_v1_parts.row_type,
            array_agg(patients_v1_parts.first_row ORDER BY patients_v1_parts.first_row) AS first_rows,
            array_agg(patients_v1_parts.pattern ORDER BY patients_v1_parts.first_row) AS patterns,
            min(patients_v1_parts.seed) AS seed
           FROM kanon.patients_v1_parts
          GROUP BY patients_v1_parts.row_type
        ), numbered AS (
         SELECT typed.q1,
            typed.q2,
            typed.c1,
            typed.row_type,
            row_number() OVER (PARTITION BY typed.row_type ORDER BY (hashtextextended(((ROW(typed.c1))::text COLLATE "C"), d.seed)), (random())) AS row_number
           FROM (typed
             JOIN divided d ON ((d.row_type = typed.row_type)))
        ), assigned AS (
         SELECT typed.q1,
            typed.q2,
            typed.c1,
            typed.row_type,
            mapping.pattern
           FROM (typed
             LEFT JOIN kanon.patients_v1_mapping mapping ON ((mapping.row_type = typed.row_type)))
          WHERE (NOT (EXISTS ( SELECT
                   FROM divided d
                  WHERE (d.row_type = typed.row_type))))
        UNION ALL
         SELECT numbered.q1,
            numbered.q2,
            numbered.c1,
            numbered.row_type,
            divided.patterns[width_bucket(numbered.row_number, divided.first_rows)] AS patterns
           FROM (numbered
             JOIN divided ON ((divided.row_type = numbered.row_type)))
        ), masked AS (
         SELECT
                CASE
                    WHEN ((COALESCE(assigned.pattern, (3)::bigint) & (1)::bigint) = 0) THEN assigned.q1
                    ELSE NULL::integer
                END AS q1,
                CASE
                    WHEN ((COALESCE(assigned.pattern, (3)::bigint) & (2)::bigint) = 0) THEN assigned.q2
                    ELSE NULL::text
                END AS q2,
            assigned.c1,
            COALESCE(assigned.pattern, (3)::bigint) AS pattern
           FROM assigned
        ), hashed AS (
         SELECT masked.q1,
            masked.q2,
            masked.c1,
            masked.pattern,
            hash_record_extended(ROW(masked.q1, masked.q2, masked.pattern), (0)::bigint) AS class_hash
           FROM masked
         OFFSET 0
        ), counted AS (
         SELECT hashed.q1,
            hashed.q2,
            hashed.c1,
            hashed.pattern,
            hashed.class_hash,
            count(*) OVER same_class AS people
           FROM hashed
          WINDOW same_class AS (PARTITION BY hashed.class_hash, hashed.pattern, hashed.q1, hashed.q2)
        )
 SELECT counted.q1 AS age,
    (counted.q2 || ''::text) AS sex,
    counted.c1 AS diagnosis,
    counted.pattern AS kanon_pattern
   FROM counted
  WHERE (counted.people >= 5)
  ORDER BY (random())
  WITH NO DATA;
ALTER TABLE kanon.patients_v1 OWNER TO kanon_owner;
CREATE VIEW kanon."public_Visits, 2_row_types" AS
 SELECT base.q1 AS "Über",
    base.q2 AS zip,
    count(*) AS rows,
    count(DISTINCT base.person) AS people
   FROM ( SELECT "Visits, 2"."Über" AS q1,
            "Visits, 2".zip AS q2,
            "Visits, 2".person
           FROM public."Visits, 2"
          WHERE (has_table_privilege(('public."Visits, 2"'::regclass)::oid, 'SELECT'::text) OR (has_column_privilege(('public."Visits, 2"'::regclass)::oid, 'Über'::text, 'SELECT'::text) AND has_column_privilege(('public."Visits, 2"'::regclass)::oid, 'zip'::text, 'SELECT'::text)))) base
  GROUP BY base.q1, base.q2;
ALTER TABLE kanon."public_Visits, 2_row_types" OWNER TO kanon_owner;
CREATE VIEW kanon.public_patients_row_types AS
 SELECT base.q1 AS age,
    base.q2 AS sex,
    count(*) AS rows,
    count(*) AS people
   FROM ( SELECT patients.age AS q1,
            patients.sex AS q2
           FROM public.patients
          WHERE (has_table_privilege(('public.patients'::regclass)::oid, 'SELECT'::text) OR (has_column_privilege(('public.patients'::regclass)::oid, 'age'::text, 'SELECT'::text) AND has_column_privilege(('public.patients'::regclass)::oid, 'sex'::text, 'SELECT'::text)))) base
  GROUP BY base.q1, base.q2;
ALTER TABLE kanon.public_patients_row_types OWNER TO kanon_owner;
CREATE TABLE kanon.ranged_v2_mapping (
    row_type bigint NOT NULL,
    pattern bigint NOT NULL,
    price bigint
);
ALTER TABLE kanon.ranged_v2_mapping OWNER TO kanon_owner;
CREATE TABLE kanon.ranged_v2_nodes_1 (
    value integer NOT NULL,
    level_0 int4range NOT NULL,
    loss_0 double precision NOT NULL,
    level_1 int4range NOT NULL,
    loss_1 double precision NOT NULL,
    level_2 int4range NOT NULL,
    loss_2 double precision NOT NULL
);
ALTER TABLE kanon.ranged_v2_nodes_1 OWNER TO kanon_owner;
CREATE TABLE kanon.ranged_v2_nodes_2 (
    value text NOT NULL,
    level_0 text NOT NULL,
    loss_0 double precision NOT NULL
);
ALTER TABLE kanon.ranged_v2_nodes_2 OWNER TO kanon_owner;
CREATE MATERIALIZED VIEW kanon.ranged_v2 AS
 WITH base AS (
         SELECT patients.age AS q1,
            patients.sex AS q2,
            patients.diagnosis AS c1
           FROM public.patients
        ), assigned AS (
         SELECT base.q1,
            base.q2,
            base.c1,
            mapping.pattern
           FROM (base
             LEFT JOIN kanon.ranged_v2_mapping mapping ON ((mapping.row_type = hash_record_extended(ROW(base.q1, base.q2), (0)::bigint))))
        ), leveled AS (
         SELECT assigned.q1,
            assigned.q2,
            assigned.c1,
            assigned.pattern,
                CASE
                    WHEN ((h1.value IS NULL) AND (assigned.q1 IS NOT NULL)) THEN (3)::bigint
                    ELSE LEAST((3)::bigint, ((COALESCE(assigned.pattern, (7)::bigint) >> 0) & (3)::bigint))
                END AS l1,
            h1.level_0 AS n1_0,
            h1.level_1 AS n1_1,
            h1.level_2 AS n1_2,
                CASE
                    WHEN ((h2.value IS NULL) AND (assigned.q2 IS NOT NULL)) THEN (1)::bigint
                    ELSE LEAST((1)::bigint, ((COALESCE(assigned.pattern, (7)::bigint) >> 2) & (1)::bigint))
                END AS l2,
            h2.level_0 AS n2_0
           FROM ((assigned
             LEFT JOIN kanon.ranged_v2_nodes_1 h1 ON ((h1.value = assigned.q1)))
             LEFT JOIN kanon.ranged_v2_nodes_2 h2 ON ((h2.value = assigned.q2)))
         OFFSET 0
        ), masked AS (
         SELECT
                CASE leveled.l1
                    WHEN 0 THEN leveled.n1_0
                    WHEN 1 THEN leveled.n1_1
                    WHEN 2 THEN leveled.n1_2
                    ELSE NULL::int4range
                END AS q1,
                CASE leveled.l2
                    WHEN 0 THEN leveled.n2_0
                    ELSE NULL::text
                END AS q2,
            leveled.c1,
            ((leveled.l1 << 0) | (leveled.l2 << 2)) AS pattern
           FROM leveled
        ), hashed AS (
         SELECT masked.q1,
            masked.q2,
            masked.c1,
            masked.pattern,
            hash_record_extended(ROW(((masked.q1)::text COLLATE "C"), masked.q2, masked.pattern), (0)::bigint) AS class_hash
           FROM masked
         OFFSET 0
        ), counted AS (
         SELECT hashed.q1,
            hashed.q2,
            hashed.c1,
            hashed.pattern,
            hashed.class_hash,
            count(*) OVER same_class AS people
           FROM hashed
          WINDOW same_class AS (PARTITION BY hashed.class_hash, hashed.pattern, hashed.q1, hashed.q2)
        )
 SELECT counted.q1 AS age,
    (counted.q2 || ''::text) AS sex,
    counted.c1 AS diagnosis,
    counted.pattern AS kanon_pattern
   FROM counted
  WHERE (counted.people >= 3)
  ORDER BY (random())
  WITH NO DATA;
ALTER TABLE kanon.ranged_v2 OWNER TO kanon_owner;
CREATE VIEW kanon.ranged_v2_unknown AS
 SELECT count(*) FILTER (WHERE ((base.q1 IS NOT NULL) AND (h1.value IS NULL))) AS unknown_0,
    count(*) FILTER (WHERE ((base.q2 IS NOT NULL) AND (h2.value IS NULL))) AS unknown_1
   FROM ((( SELECT patients.age AS q1,
            patients.sex AS q2
           FROM public.patients) base
     LEFT JOIN kanon.ranged_v2_nodes_1 h1 ON ((h1.value = base.q1)))
     LEFT JOIN kanon.ranged_v2_nodes_2 h2 ON ((h2.value = base.q2)));
ALTER TABLE kanon.ranged_v2_unknown OWNER TO kanon_owner;
CREATE TABLE public.codes (
    sex text,
    parent text
);
ALTER TABLE public.codes OWNER TO postgres;
CREATE VIEW safe."Visits, 2" AS
 SELECT "Visits, 2_v1"."Über",
    "Visits, 2_v1".zip,
    array_remove(ARRAY[
        CASE
            WHEN (("Visits, 2_v1".kanon_pattern & (1)::bigint) <> 0) THEN 'Über'::name
            ELSE NULL::name
        END,
        CASE
            WHEN (("Visits, 2_v1".kanon_pattern & (2)::bigint) <> 0) THEN 'zip'::name
            ELSE NULL::name
        END], NULL::name) AS kanon_suppressed
   FROM kanon."Visits, 2_v1";
ALTER TABLE safe."Visits, 2" OWNER TO kanon_owner;
COMMENT ON VIEW safe."Visits, 2" IS '3-anonymous release of "public"."Visits, 2" made by kanon_pg: every combination of quasi-identifiers and suppressed columns is shared by at least 3 people.';
CREATE VIEW safe.diverse AS
 SELECT diverse_v1.age,
    diverse_v1.sex,
    diverse_v1.diagnosis,
    array_remove(ARRAY[
        CASE
            WHEN ((diverse_v1.kanon_pattern & (1)::bigint) <> 0) THEN 'age'::name
            ELSE NULL::name
        END,
        CASE
            WHEN ((diverse_v1.kanon_pattern & (2)::bigint) <> 0) THEN 'sex'::name
            ELSE NULL::name
        END], NULL::name) AS kanon_suppressed
   FROM kanon.diverse_v1;
ALTER TABLE safe.diverse OWNER TO kanon_owner;
COMMENT ON VIEW safe.diverse IS '2-anonymous release of "public"."patients" made by kanon_pg: every combination of quasi-identifiers and suppressed columns is shared by at least 2 people.';
CREATE VIEW safe.patients AS
 SELECT patients_v1.age,
    patients_v1.sex,
    patients_v1.diagnosis,
    array_remove(ARRAY[
        CASE
            WHEN ((patients_v1.kanon_pattern & (1)::bigint) <> 0) THEN 'age'::name
            ELSE NULL::name
        END,
        CASE
            WHEN ((patients_v1.kanon_pattern & (2)::bigint) <> 0) THEN 'sex'::name
            ELSE NULL::name
        END], NULL::name) AS kanon_suppressed
   FROM kanon.patients_v1;
ALTER TABLE safe.patients OWNER TO kanon_owner;
COMMENT ON VIEW safe.patients IS '5-anonymous release of "public"."patients" made by kanon_pg: every combination of quasi-identifiers and suppressed columns is shared by at least 5 people.';
CREATE VIEW safe.ranged AS
 SELECT ranged_v2.age,
    ranged_v2.sex,
    ranged_v2.diagnosis,
    array_remove(ARRAY[
        CASE
            WHEN (((ranged_v2.kanon_pattern >> 0) & (3)::bigint) = 3) THEN 'age'::name
            ELSE NULL::name
        END,
        CASE
            WHEN ((ranged_v2.kanon_pattern & (4)::bigint) <> 0) THEN 'sex'::name
            ELSE NULL::name
        END], NULL::name) AS kanon_suppressed
   FROM kanon.ranged_v2;
ALTER TABLE safe.ranged OWNER TO kanon_owner;
COMMENT ON VIEW safe.ranged IS '3-anonymous release of "public"."patients" made by kanon_pg: every combination of quasi-identifiers and suppressed columns is shared by at least 3 people.';
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (7836891215799853305, 0, 0);
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (-5598918522734204000, 0, 1);
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (-2825049346209468585, 3, 2);
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (-7550727034892763270, 3, 3);
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (5390175402934816554, 0, 4);
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (141638348450887237, 0, 5);
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (-185515015208811427, 3, 6);
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (-3152202709869167249, 0, 7);
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (-2632230828073848178, 0, 8);
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (-93076886852232208, 3, 9);
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (8164044579459551969, 0, 10);
INSERT INTO kanon."Visits, 2_v1_mapping" VALUES (2873610807808123614, 0, 11);
INSERT INTO kanon.diverse_v1_mapping VALUES (3364736721099417000, 3, 0);
INSERT INTO kanon.diverse_v1_mapping VALUES (-8932062539285651652, 3, 1);
INSERT INTO kanon.diverse_v1_mapping VALUES (5827921720893589764, 3, 2);
INSERT INTO kanon.diverse_v1_mapping VALUES (-8594050889364789259, 3, 3);
INSERT INTO kanon.diverse_v1_mapping VALUES (-6468877539491478888, 3, 4);
INSERT INTO kanon.diverse_v1_mapping VALUES (-8744961274935362026, 3, 5);
INSERT INTO kanon.diverse_v1_mapping VALUES (6540618395338300628, 3, 6);
INSERT INTO kanon.diverse_v1_mapping VALUES (-4611006955305923487, 3, 7);
INSERT INTO kanon.diverse_v1_mapping VALUES (2557574461279434856, 3, 8);
INSERT INTO kanon.diverse_v1_mapping VALUES (5718738864715323818, 3, 9);
INSERT INTO kanon.diverse_v1_mapping VALUES (302163298454021434, 3, 10);
INSERT INTO kanon.diverse_v1_mapping VALUES (-5847781514870461530, 3, 11);
INSERT INTO kanon.patients_v1_mapping VALUES (2195381697362627122, 0, 0);
INSERT INTO kanon.patients_v1_mapping VALUES (-7172689473094286598, 0, 1);
INSERT INTO kanon.patients_v1_mapping VALUES (-2071985171005203532, 1, 2);
INSERT INTO kanon.patients_v1_mapping VALUES (-8581222666170564132, 0, 3);
INSERT INTO kanon.patients_v1_mapping VALUES (-6280455205040111432, 0, 4);
INSERT INTO kanon.patients_v1_mapping VALUES (-51489979257010553, 3, 5);
INSERT INTO kanon.patients_v1_parts VALUES (2195381697362627122, 1, 3, -4375153271759979513);
INSERT INTO kanon.patients_v1_parts VALUES (2195381697362627122, 5, 0, -4375153271759979513);
INSERT INTO kanon.patients_v1_parts VALUES (-2071985171005203532, 1, 3, -4375153271759979513);
INSERT INTO kanon.patients_v1_parts VALUES (-2071985171005203532, 4, 1, -4375153271759979513);
INSERT INTO kanon.patients_v1_parts VALUES (-51489979257010553, 1, 0, -4375153271759979513);
INSERT INTO kanon.patients_v1_parts VALUES (-51489979257010553, 6, 3, -4375153271759979513);
INSERT INTO kanon.ranged_v2_mapping VALUES (-8581222666170564132, 0, NULL);
INSERT INTO kanon.ranged_v2_mapping VALUES (-51489979257010553, 1, NULL);
INSERT INTO kanon.ranged_v2_mapping VALUES (2195381697362627122, 4, NULL);
INSERT INTO kanon.ranged_v2_mapping VALUES (-6280455205040111432, 2, NULL);
INSERT INTO kanon.ranged_v2_mapping VALUES (-7172689473094286598, 4, NULL);
INSERT INTO kanon.ranged_v2_mapping VALUES (-2071985171005203532, 3, NULL);
INSERT INTO kanon.ranged_v2_nodes_1 VALUES (20, '[20,21)', 0, '[20,25)', 0.8, '[20,40)', 1);
INSERT INTO kanon.ranged_v2_nodes_1 VALUES (21, '[21,22)', 0, '[20,25)', 0.8, '[20,40)', 1);
INSERT INTO kanon.ranged_v2_nodes_1 VALUES (22, '[22,23)', 0, '[20,25)', 0.8, '[20,40)', 1);
INSERT INTO kanon.ranged_v2_nodes_1 VALUES (23, '[23,24)', 0, '[20,25)', 0.8, '[20,40)', 1);
INSERT INTO kanon.ranged_v2_nodes_1 VALUES (24, '[24,25)', 0, '[20,25)', 0.8, '[20,40)', 1);
INSERT INTO kanon.ranged_v2_nodes_1 VALUES (25, '[25,26)', 0, '[25,30)', 0, '[20,40)', 1);
INSERT INTO kanon.ranged_v2_nodes_2 VALUES ('f', 'f', 0);
INSERT INTO kanon.ranged_v2_nodes_2 VALUES ('m', 'm', 0);
INSERT INTO public."Visits, 2" VALUES (0, 1, 1001, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (1, 2, 1002, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (1, 3, 1000, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (2, 0, 1001, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (2, 1, 1002, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (3, 2, 1000, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (3, 3, 1001, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (4, 0, 1002, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (4, 1, 1000, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (5, 2, 1001, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (5, 3, 1002, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (6, 0, 1000, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (6, 1, 1001, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (7, 2, 1002, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (7, 3, 1000, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (8, 0, 1001, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (8, 1, 1002, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (9, 2, 1000, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (9, 3, 1001, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (10, 0, 1002, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (10, 1, 1000, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (11, 2, 1001, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (11, 3, 1002, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (12, 0, 1000, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (12, 1, 1001, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (13, 2, 1002, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (13, 3, 1000, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (14, 0, 1001, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (14, 1, 1002, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (15, 2, 1000, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (15, 3, 1001, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (16, 0, 1002, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (16, 1, 1000, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (17, 2, 1001, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (17, 3, 1002, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (18, 0, 1000, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (18, 1, 1001, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (19, 2, 1002, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (19, 3, 1000, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (20, 0, 1001, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (20, 1, 1002, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (21, 2, 1000, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (21, 3, 1001, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (22, 0, 1002, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (22, 1, 1000, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (23, 2, 1001, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (23, 3, 1002, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (24, 0, 1000, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (24, 1, 1001, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (25, 2, 1002, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (25, 3, 1000, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (26, 0, 1001, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (26, 1, 1002, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (27, 2, 1000, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (27, 3, 1001, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (28, 0, 1002, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (28, 1, 1000, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (29, 2, 1001, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (29, 3, 1002, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (30, 0, 1000, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (30, 1, 1001, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (31, 2, 1002, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (31, 3, 1000, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (32, 0, 1001, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (32, 1, 1002, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (33, 2, 1000, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (33, 3, 1001, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (34, 0, 1002, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (34, 1, 1000, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (35, 2, 1001, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (35, 3, 1002, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (36, 0, 1000, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (36, 1, 1001, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (37, 2, 1002, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (37, 3, 1000, '2020-01-01');
INSERT INTO public."Visits, 2" VALUES (38, 0, 1001, '2021-01-01');
INSERT INTO public."Visits, 2" VALUES (38, 1, 1002, '2022-01-01');
INSERT INTO public."Visits, 2" VALUES (39, 2, 1000, '2023-01-01');
INSERT INTO public."Visits, 2" VALUES (39, 3, 1001, '2024-01-01');
INSERT INTO public."Visits, 2" VALUES (40, 0, 1002, '2020-01-01');
INSERT INTO public.codes VALUES ('f', 'all');
INSERT INTO public.codes VALUES ('m', 'all');
INSERT INTO public.patients VALUES (1, 21, 'm', 'd1');
INSERT INTO public.patients VALUES (2, 22, 'f', 'd2');
INSERT INTO public.patients VALUES (3, 23, 'm', 'd3');
INSERT INTO public.patients VALUES (4, 24, 'f', 'd0');
INSERT INTO public.patients VALUES (5, 25, 'm', 'd1');
INSERT INTO public.patients VALUES (6, 20, 'f', 'd2');
INSERT INTO public.patients VALUES (7, 21, 'm', 'd3');
INSERT INTO public.patients VALUES (8, 22, 'f', 'd0');
INSERT INTO public.patients VALUES (9, 23, 'm', 'd1');
INSERT INTO public.patients VALUES (10, 24, 'f', 'd2');
INSERT INTO public.patients VALUES (11, 25, 'm', 'd3');
INSERT INTO public.patients VALUES (12, 20, 'f', 'd0');
INSERT INTO public.patients VALUES (13, 21, 'm', 'd1');
INSERT INTO public.patients VALUES (14, 22, 'f', 'd2');
INSERT INTO public.patients VALUES (15, 23, 'm', 'd3');
INSERT INTO public.patients VALUES (16, 24, 'f', 'd0');
INSERT INTO public.patients VALUES (17, 25, 'm', 'd1');
INSERT INTO public.patients VALUES (18, 20, 'f', 'd2');
INSERT INTO public.patients VALUES (19, 21, 'm', 'd3');
INSERT INTO public.patients VALUES (20, 22, 'f', 'd0');
INSERT INTO public.patients VALUES (21, 23, 'm', 'd1');
INSERT INTO public.patients VALUES (22, 24, 'f', 'd2');
INSERT INTO public.patients VALUES (23, 25, 'm', 'd3');
INSERT INTO public.patients VALUES (24, 20, 'f', 'd0');
INSERT INTO public.patients VALUES (25, 21, 'm', 'd1');
INSERT INTO public.patients VALUES (26, 22, 'f', 'd2');
INSERT INTO public.patients VALUES (27, 23, 'm', 'd3');
INSERT INTO public.patients VALUES (28, 24, 'f', 'd0');
INSERT INTO public.patients VALUES (29, 25, 'm', 'd1');
INSERT INTO public.patients VALUES (30, 20, 'f', 'd2');
INSERT INTO public.patients VALUES (31, 21, 'm', 'd3');
INSERT INTO public.patients VALUES (32, 22, 'f', 'd0');
INSERT INTO public.patients VALUES (33, 23, 'm', 'd1');
INSERT INTO public.patients VALUES (34, 24, 'f', 'd2');
INSERT INTO public.patients VALUES (35, 25, 'm', 'd3');
INSERT INTO public.patients VALUES (36, 20, 'f', 'd0');
INSERT INTO public.patients VALUES (37, 21, 'm', 'd1');
INSERT INTO public.patients VALUES (38, 22, 'f', 'd2');
INSERT INTO public.patients VALUES (39, 23, 'm', 'd3');
INSERT INTO public.patients VALUES (40, 24, 'f', 'd0');
INSERT INTO public.patients VALUES (41, 25, 'm', 'd1');
INSERT INTO public.patients VALUES (42, 20, 'f', 'd2');
INSERT INTO public.patients VALUES (43, 21, 'm', 'd3');
INSERT INTO public.patients VALUES (44, 22, 'f', 'd0');
INSERT INTO public.patients VALUES (45, 23, 'm', 'd1');
INSERT INTO public.patients VALUES (46, 24, 'f', 'd2');
INSERT INTO public.patients VALUES (47, 25, 'm', 'd3');
INSERT INTO public.patients VALUES (48, 20, 'f', 'd0');
INSERT INTO public.patients VALUES (49, 21, 'm', 'd1');
INSERT INTO public.patients VALUES (50, 22, 'f', 'd2');
INSERT INTO public.patients VALUES (51, 23, 'm', 'd3');
INSERT INTO public.patients VALUES (52, 24, 'f', 'd0');
INSERT INTO public.patients VALUES (53, 25, 'm', 'd1');
INSERT INTO public.patients VALUES (54, 20, 'f', 'd2');
INSERT INTO public.patients VALUES (55, 21, 'm', 'd3');
INSERT INTO public.patients VALUES (56, 22, 'f', 'd0');
INSERT INTO public.patients VALUES (57, 23, 'm', 'd1');
INSERT INTO public.patients VALUES (58, 24, 'f', 'd2');
INSERT INTO public.patients VALUES (59, 25, 'm', 'd3');
INSERT INTO public.patients VALUES (60, 20, 'f', 'd0');
ALTER TABLE ONLY kanon."Visits, 2_v1_mapping"
    ADD CONSTRAINT "Visits, 2_v1_mapping_pkey" PRIMARY KEY (row_type);
ALTER TABLE ONLY kanon.diverse_v1_mapping
    ADD CONSTRAINT diverse_v1_mapping_pkey PRIMARY KEY (row_type);
ALTER TABLE ONLY kanon.patients_v1_mapping
    ADD CONSTRAINT patients_v1_mapping_pkey PRIMARY KEY (row_type);
ALTER TABLE ONLY kanon.patients_v1_parts
    ADD CONSTRAINT patients_v1_parts_pkey PRIMARY KEY (row_type, first_row);
ALTER TABLE ONLY kanon.ranged_v2_mapping
    ADD CONSTRAINT ranged_v2_mapping_pkey PRIMARY KEY (row_type);
ALTER TABLE ONLY kanon.ranged_v2_nodes_1
    ADD CONSTRAINT ranged_v2_nodes_1_pkey PRIMARY KEY (value);
ALTER TABLE ONLY kanon.ranged_v2_nodes_2
    ADD CONSTRAINT ranged_v2_nodes_2_pkey PRIMARY KEY (value);
ALTER TABLE ONLY public.patients
    ADD CONSTRAINT patients_pkey PRIMARY KEY (id);
GRANT SELECT ON TABLE public."Visits, 2" TO kanon_owner;
GRANT SELECT ON TABLE public."Visits, 2" TO kanon_reader;
GRANT SELECT ON TABLE public.patients TO kanon_owner;
GRANT SELECT ON TABLE public.patients TO kanon_reader;
GRANT SELECT ON TABLE kanon."public_Visits, 2_row_types" TO postgres;
GRANT SELECT ON TABLE kanon.public_patients_row_types TO postgres;
GRANT SELECT ON TABLE safe."Visits, 2" TO kanon_analyst;
GRANT SELECT ON TABLE safe.diverse TO kanon_analyst;
GRANT SELECT ON TABLE safe.patients TO kanon_analyst;
GRANT SELECT ON TABLE safe.ranged TO kanon_analyst;
REFRESH MATERIALIZED VIEW kanon."Visits, 2_v1";
REFRESH MATERIALIZED VIEW kanon.diverse_v1;
REFRESH MATERIALIZED VIEW kanon.patients_v1;
REFRESH MATERIALIZED VIEW kanon.ranged_v2;
INSERT INTO kanon.declaration VALUES ('public.patients', '{id}', '{age,sex}', '{diagnosis}', '{}', NULL, NULL, 'public_patients_row_types', 'postgres', '2026-11-22 18:38:47.75698+00');
INSERT INTO kanon.declaration VALUES ('public."Visits, 2"', '{}', '{Über,zip}', '{}', '{}', 'person', '{"zip": 2}', 'public_Visits, 2_row_types', 'postgres', '2026-11-22 18:38:48.228927+00');
INSERT INTO kanon.hierarchy VALUES ('ages', 1, NULL, 'intervals', '{"width": [5, 20], "builder": "intervals"}', 'int4range', 3, '{6,2,1,1}', false, 'postgres', '2026-11-22 18:38:48.234899+00');
INSERT INTO kanon.hierarchy VALUES ('codes', 1, NULL, 'rows', '{}', 'text', 1, '{1,1}', true, 'postgres', '2026-11-22 18:38:48.244723+00');
INSERT INTO kanon.hierarchy VALUES ('sexes', 1, NULL, 'table', '{"relation": "\"public\".\"codes\""}', 'text', 1, '{2,1}', false, 'postgres', '2026-11-22 18:38:48.245946+00');
INSERT INTO kanon.hierarchy_value VALUES ('ages', 1, '20', '{"[20,25)","[20,40)"}');
INSERT INTO kanon.hierarchy_value VALUES ('ages', 1, '21', '{"[20,25)","[20,40)"}');
INSERT INTO kanon.hierarchy_value VALUES ('ages', 1, '22', '{"[20,25)","[20,40)"}');
INSERT INTO kanon.hierarchy_value VALUES ('ages', 1, '23', '{"[20,25)","[20,40)"}');
INSERT INTO kanon.hierarchy_value VALUES ('ages', 1, '24', '{"[20,25)","[20,40)"}');
INSERT INTO kanon.hierarchy_value VALUES ('ages', 1, '25', '{"[25,30)","[20,40)"}');
INSERT INTO kanon.hierarchy_value VALUES ('codes', 1, '1', '{}');
INSERT INTO kanon.hierarchy_value VALUES ('sexes', 1, 'f', '{}');
INSERT INTO kanon.hierarchy_value VALUES ('sexes', 1, 'm', '{}');
INSERT INTO kanon.ledger VALUES ('public.patients', '3dceb6e237dac00aaa2bcc3ab5966b59', '{}', 'postgres', '2026-11-22 18:42:12.035536+00');
INSERT INTO kanon.ledger VALUES ('public."Visits, 2"', 'ab12ae7d9ba79a4c52c3cff42533461d', '{}', 'postgres', '2026-11-22 18:42:12.382528+00');
INSERT INTO kanon.protection VALUES ('public.patients', 5, 'reject', false, false, NULL, 'insensitive', 'pairwise', false, 256, NULL, 50, NULL, NULL, 86400, 3600, 30, 10000, 'postgres', '2026-11-22 18:42:12.035536+00');
INSERT INTO kanon.protection VALUES ('public."Visits, 2"', 3, 'suppress', false, false, NULL, 'insensitive', 'linear', false, 256, NULL, 50, NULL, NULL, 86400, 3600, 30, 10000, 'postgres', '2026-11-22 18:42:12.382528+00');
INSERT INTO kanon.release VALUES ('patients', 'public.patients', 'kanon.patients_v1', 'kanon.patients_v1_mapping', 'kanon.patients_v1_parts', 0, '{"k": 5, "l": null, "p": null, "t": null, "seed": 1, "method": "auto", "release": null, "distance": null, "patterns": null, "relation": "public.patients", "diversity": null, "sensitive": null, "time_limit": 30.0, "hierarchies": null, "most_classes": null, "fewest_classes": null, "suppressed_rows": null, "quasi_identifiers": null}', '{age,sex}', '{diagnosis}', '{}', NULL, 5, 60, 60, 6, 7, 5, 8.571428571428571, 12, 31, 0.25833333333333336, 31, NULL, NULL, false, 'divided at random', NULL, NULL, '00:00:00.041442', 0, 'postgres', '2026-11-22 18:38:48.25477+00', '{}', '{}', NULL, 0.25833333333333336, 0.25833333333333336, NULL, NULL);
INSERT INTO kanon.release VALUES ('Visits, 2', 'public."Visits, 2"', 'kanon."Visits, 2_v1"', 'kanon."Visits, 2_v1_mapping"', NULL, 0, '{"k": 3, "l": null, "p": null, "t": null, "seed": 1, "method": "auto", "release": "Visits, 2", "distance": null, "patterns": null, "relation": "public.\"Visits, 2\"", "diversity": null, "sensitive": null, "time_limit": 30.0, "hierarchies": null, "most_classes": null, "fewest_classes": null, "suppressed_rows": null, "quasi_identifiers": null}', '{Über,zip}', '{}', '{}', 'person', 3, 80, 41, 12, 9, 6, 8.11111111111111, 20, 54, 0.3375, 81, NULL, NULL, false, 'divided at random', NULL, NULL, '00:00:00.008495', 80, 'postgres', '2026-11-22 18:39:39.424487+00', '{}', '{}', NULL, 0.3375, 0.3375, NULL, NULL);
INSERT INTO kanon.release VALUES ('diverse', 'public.patients', 'kanon.diverse_v1', 'kanon.diverse_v1_mapping', NULL, 0, '{"k": 2, "l": 2, "p": 2, "t": null, "seed": 1, "method": "auto", "release": "diverse", "distance": null, "patterns": null, "relation": "public.patients", "diversity": null, "sensitive": null, "time_limit": 30.0, "hierarchies": null, "most_classes": null, "fewest_classes": null, "suppressed_rows": null, "quasi_identifiers": null}', '{age,sex}', '{diagnosis}', '{}', NULL, 2, 60, 60, 6, 1, 60, 60, 60, 120, 1, 120, NULL, NULL, false, 'divided at random', NULL, NULL, '00:00:00.025278', 60, 'postgres', '2026-11-22 18:39:39.439043+00', '{}', '{}', NULL, 1, 1, NULL, NULL);
INSERT INTO kanon.release VALUES ('ranged', 'public.patients', 'kanon.ranged_v2', 'kanon.ranged_v2_mapping', NULL, 0, '{"k": 3, "l": null, "p": null, "t": null, "seed": 2, "method": "auto", "release": "ranged", "distance": null, "patterns": null, "relation": "public.patients", "diversity": null, "sensitive": null, "time_limit": 30.0, "hierarchies": {"age": {"loss": "ncp", "lowest": 0, "builder": "intervals"}, "sex": {"loss": "ncp", "lowest": 0, "hierarchy": "sexes"}}, "most_classes": null, "fewest_classes": null, "suppressed_rows": null, "quasi_identifiers": null}', '{age,sex}', '{diagnosis}', '{}', NULL, 3, 60, 60, 6, 6, 10, 10, 10, 30, 0.25, 40, NULL, NULL, false, 'generalized at random', NULL, NULL, '00:00:00.050688', 60, 'postgres', '2026-11-22 18:42:11.970027+00', '{age,sex}', '{kanon.ranged_v2_nodes_1,kanon.ranged_v2_nodes_2}', 'kanon.ranged_v2_unknown', 0.3333333333333333, 0.3333333333333333, NULL, NULL);
INSERT INTO kanon.release_lock VALUES ('patients', 1);
INSERT INTO kanon.release_lock VALUES ('Visits, 2', 1);
INSERT INTO kanon.release_lock VALUES ('diverse', 1);
INSERT INTO kanon.release_lock VALUES ('ranged', 2);
