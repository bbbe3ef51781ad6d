{# What the guard reads of the base relation, under names that are free of the user's: through the relation's reader, unless
   kanon itself made the table. As a common table expression the function's rows would be stored a second time. #}
{% if source %}
    {{ source }} AS base
{% else %}
    (
{% include "guard/base_columns.sql" %}
    ) AS base
{% endif %}
