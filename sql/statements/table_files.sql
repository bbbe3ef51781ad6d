-- name: copy_csv_in(): Appends CSV records without a header. An empty field is NULL; a quoted one is too, where `nullable` says so.
COPY {{ table }} (
{%- for name in names %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor -%}
)
FROM STDIN (
    FORMAT csv, ENCODING 'UTF8'
    {%- if nullable %}, FORCE_NULL ({% for name in nullable %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor %}){% endif %}
)

-- name: begin_handing_over(): What is read is as of each statement, because a lock is older than what is read under it.
SET TRANSACTION ISOLATION LEVEL READ COMMITTED

-- name: copy_csv_out(): Sends expressions over the columns of a relation as CSV with a header.
COPY (
    SELECT
        {% for column in columns %}{{ column.value }} AS {{ column.name }}{% if not loop.last %},{% endif %} {% endfor %}
    FROM {{ relation }}
) TO STDOUT (FORMAT csv, HEADER true, ENCODING 'UTF8')

-- name: copy_text_out(): Sends expressions over the columns of a relation as COPY's own text.
COPY (
    SELECT {% for value in values %}{{ value }}{% if not loop.last %}, {% endif %}{% endfor %} FROM {{ relation }}
) TO STDOUT (ENCODING 'UTF8')

-- name: export_bound(): An end of the ranges of a column; none if they have none.
pg_catalog.{{ end }}({{ column }})

-- name: export_names(): An array of names as a JSON array of strings.
pg_catalog.to_json({{ column }})::text

-- name: export_numeric_digits(): How many digits the values of a numeric column need before and after the point.
SELECT coalesce(max(pg_catalog.length(pg_catalog.trunc(pg_catalog.abs({{ column }}))::text)), 1)::integer AS whole,
    coalesce(max(pg_catalog.scale({{ column }})), 0)::integer AS fraction
FROM {{ relation }}

-- name: find_published(): The releases that the caller may read: only the owner role can put views into schema safe.
SELECT c.oid::bigint AS oid, c.relname::text AS name FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'safe' AND c.relkind = 'v' AND pg_catalog.pg_get_userbyid(c.relowner) = 'kanon_owner'
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
ORDER BY c.relname COLLATE "C"

-- name: published_along(text[]): The views of the releases that some views belong to, as far as the caller may read them.
SELECT DISTINCT c.relname::text AS name
FROM kanon.published_roles AS named INNER JOIN pg_catalog.pg_class AS n ON n.oid = named.view
INNER JOIN kanon.published_roles AS along ON along.release = named.release INNER JOIN pg_catalog.pg_class AS c ON c.oid = along.view
WHERE n.relname = ANY ($1::text[]) ORDER BY name

-- name: published_facts(bigint): What a release says of itself to its readers.
SELECT k, subsets, counts_people, quasi_identifiers::text[] AS quasi_identifiers, sensitive::text[] AS sensitive,
    insensitive::text[] AS insensitive, pg_catalog.to_char(published_at, 'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM') AS published_at,
    pg_catalog.to_char(refreshed_at, 'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM') AS refreshed_at
FROM kanon.published_roles WHERE view = $1::bigint::oid::regclass

-- name: load_create_table(): Creates a table of the given columns.
CREATE TABLE {{ table }} (
    {% for column in columns %}{{ column.name }} {{ column.type }}{% if not loop.last %},{% endif %} {% endfor %}
)

-- name: load_drop_table(): Drops a table nothing depends on.
DROP TABLE {{ table }}

-- name: published_keys(bigint): By which columns a release joins others.
SELECT key_columns::text[] AS key_columns, foreign_keys::text AS foreign_keys, has_rows
FROM kanon.published_keys WHERE view = $1::bigint::oid::regclass

-- name: shows_rows(): Whether a view shows any row.
SELECT EXISTS (SELECT FROM {{ view }}) AS shows
