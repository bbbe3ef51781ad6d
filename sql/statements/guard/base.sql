{# The columns that the guard reads of the base relation, under names that are free of the user's: through the relation's
   reader, unless kanon itself made the table. #}
base AS (
{% if source %}
    SELECT * FROM {{ source }}
{% else %}
{% include "guard/base_columns.sql" %}

{% endif %}
),
