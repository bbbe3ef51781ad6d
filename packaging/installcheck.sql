-- What everybody who installed the extension can count on.
SET client_min_messages = warning;
CREATE EXTENSION kanon_pg CASCADE;
CREATE TABLE people AS SELECT 20 + i % 3 AS age, 1000 + i % 7 AS zip, 'd' || i % 5 AS diagnosis FROM generate_series(1, 60) AS i;
SELECT kanon_declare('people', quasi_identifiers => '{age,zip}', sensitive => '{diagnosis}');
SELECT release, k, rows FROM kanon_anonymize('people', 5);
-- nobody is alone
SELECT min(people) >= 5 AS in_classes FROM (SELECT count(*) AS people FROM safe.people GROUP BY age, zip) AS classes;
-- the base table is not readable for the readers of its release
SET ROLE kanon_analyst;
SELECT count(*) FROM people;
RESET ROLE;
SELECT item, detail FROM kanon_install_check() WHERE NOT ok;
DROP EXTENSION kanon_pg CASCADE;
