-- Appends CSV records without a header. An empty field is NULL; a quoted one is too, where `nullable` says so.
COPY {{ table }} (
{%- for name in names %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor -%}
)
FROM STDIN (
    FORMAT csv, ENCODING 'UTF8'
    {%- if nullable %}, FORCE_NULL ({% for name in nullable %}{{ name }}{% if not loop.last %}, {% endif %}{% endfor %}){% endif %}

)
