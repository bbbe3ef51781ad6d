-- name: copy_csv_in(): Appends CSV records without a header. An empty field is NULL; a quoted one is too, where `nullable` says so.
COPY {{ table }} (
{%- for name in names %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor -%}
)
FROM STDIN (
    FORMAT csv, ENCODING 'UTF8'
    {%- if nullable %}, FORCE_NULL ({% for name in nullable %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor %}){% endif %}
)

-- name: copy_csv_out(): Sends expressions over the columns of a relation as CSV with a header.
COPY (
    SELECT
        {% for column in columns %}{{ column.value }} AS {{ column.name }}{% if not loop.last %},{% endif %} {% endfor %}
    FROM {{ relation }}
) TO STDOUT (FORMAT csv, HEADER true, ENCODING 'UTF8')

-- name: export_find_view(text): The view of a release: only the owner role can put views into schema safe.
SELECT c.oid::bigint AS oid FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'safe' AND c.relname = $1 AND c.relkind = 'v' AND pg_catalog.pg_get_userbyid(c.relowner) = 'kanon_owner'

-- name: export_names(): An array of names as a JSON array of strings.
pg_catalog.to_json({{ column }})::text

-- name: export_numeric_digits(): How many digits the values of a numeric column need before and after the point.
SELECT coalesce(max(pg_catalog.length(pg_catalog.trunc(pg_catalog.abs({{ column }}))::text)), 1)::integer AS whole,
    coalesce(max(pg_catalog.scale({{ column }})), 0)::integer AS fraction
FROM {{ relation }}

-- name: export_spelling(): Fixes for this transaction how values look as text, so that a file does not depend on session settings.
SELECT pg_catalog.set_config('datestyle', 'ISO, YMD', true) AS datestyle,
    pg_catalog.set_config('intervalstyle', 'iso_8601', true) AS intervalstyle,
    pg_catalog.set_config('timezone', 'UTC', true) AS timezone,
    pg_catalog.set_config('extra_float_digits', '1', true) AS extra_float_digits,
    pg_catalog.set_config('bytea_output', 'hex', true) AS bytea_output

-- name: load_create_table(): Creates a table of the given columns.
CREATE TABLE {{ table }} (
    {% for column in columns %}{{ column.name }} {{ column.type }}{% if not loop.last %},{% endif %} {% endfor %}
)

-- name: load_drop_table(): Drops a table nothing depends on.
DROP TABLE {{ table }}
