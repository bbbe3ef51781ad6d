{# The columns that the guard reads of the base relation, under names that are free of the user's: through the relation's
   reader, unless kanon itself made the table. What the reader gives is numbered for nothing, which its order needs where
   people have several rows. #}
base AS (
{% if source %}
    SELECT * FROM {{ source }}{% if entity %} WITH ORDINALITY{% endif %}

{% else %}
{% include "guard/base_columns.sql" %}

{% endif %}
),
