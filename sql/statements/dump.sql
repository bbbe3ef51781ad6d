-- name: dump_begin(): Begins the script that makes ordinary tables of releases. pg_dump cannot: of a view it writes the query.
-- psql that went on after an error would take rows for statements.
\set ON_ERROR_STOP on
\set ON_ERROR_ROLLBACK off
-- Releases of kanon_pg as tables of schema safe. For psql.
BEGIN;
SET LOCAL client_encoding = 'UTF8';
SET LOCAL standard_conforming_strings = on;
SET LOCAL search_path = pg_catalog;
SET LOCAL datestyle = 'ISO, YMD';
SET LOCAL lc_monetary = 'C';
SET LOCAL xmloption = content;
SET LOCAL client_min_messages = warning;
CREATE SCHEMA IF NOT EXISTS safe;

-- name: dump_table(): Makes a table under a name that nobody reads, and begins its rows: frozen, so that readers whose snapshot is
-- older see the new table whole, not empty.
CREATE TABLE {{ incoming }} (
    {% for column in columns %}{{ column.name }} {{ column.type }}{% if not loop.last %},{% endif %} {% endfor %}
);
COPY {{ incoming }} FROM stdin WITH (FREEZE);

-- name: dump_comments(): Says of a table what the release says of itself.
COMMENT ON TABLE {{ incoming }} IS {{ comment }};
{% for column in columns %}COMMENT ON COLUMN {{ incoming }}.{{ column.name }} IS {{ column.role }};
{% endfor %}

-- name: dump_key(): The columns that tell the rows of a table apart.
ALTER TABLE {{ incoming }} ADD PRIMARY KEY ({% for name in key %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor %});

-- name: dump_foreign_key(): The columns that say which row of another table belongs to a row.
ALTER TABLE {{ incoming }} ADD FOREIGN KEY ({% for name in names %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor %})
    REFERENCES {{ other }} ({% for name in other_names %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor %});

-- name: dump_end(): Puts the new tables in the place of those that an earlier script made, all at once: of those with the same
-- names, or of all.
SELECT 'DROP TABLE ' || string_agg(format('safe.%I', relname), ', ')
FROM pg_class
WHERE relnamespace = 'safe'::regnamespace AND relkind = 'r' AND starts_with(obj_description(oid, 'pg_class'), {{ mark }})
    AND NOT starts_with(relname::text, {{ prefix }})
{% if some %}
    AND relname IN ({% for table in tables %}{{ table.literal }}{% if not loop.last %}, {% endif %}{% endfor %})
{% endif %}
HAVING count(*) > 0
\gexec
{% for table in tables %}ALTER TABLE {{ table.incoming }} RENAME TO {{ table.name }};
{% endfor %}
COMMIT;
