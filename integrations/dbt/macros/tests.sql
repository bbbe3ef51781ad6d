{# A failing test returns names of columns, so that neither dbt's messages nor its tables of failures have a value. #}

{% test k_anonymous(model, k, quasi_identifiers) %}
{{ kanon_pg.needs({"k": k, "quasi_identifiers": quasi_identifiers}) }}
select coalesce(array_to_string(singled.columns, ', '), {{ kanon_pg.literal(quasi_identifiers | join(", ")) }}) as columns
from (
  select {{ kanon_pg.function("kanon_is_anonymous") }}({{ kanon_pg.regclass(model) }}, {{ k }}, {{ kanon_pg.names(quasi_identifiers) }}) as holds
) as checked
left join {{ kanon_pg.function("kanon_audit") }}({{ kanon_pg.regclass(model) }}, {{ k }}, {{ kanon_pg.names(quasi_identifiers) }}) as singled on true
where checked.holds is not true
{% endtest %}


{% test l_diverse(model, l, sensitive, quasi_identifiers) %}
{{ kanon_pg.needs({"l": l, "sensitive": sensitive, "quasi_identifiers": quasi_identifiers}) }}
select column_name as columns
from unnest({{ kanon_pg.names(sensitive) }}) as sensitive (column_name)
cross join lateral {{ kanon_pg.function("kanon_measure") }}(
  {{ kanon_pg.regclass(model) }}, {{ kanon_pg.names(quasi_identifiers) }}, array[column_name]
) as measured
where (measured.distinct_l >= {{ l }}) is not true
{% endtest %}


{% test no_quasi_identifiers(model, except=[]) %}
select "column" as columns, role
from {{ kanon_pg.function("kanon_suggest") }}({{ kanon_pg.regclass(model) }})
where role in ('identifier', 'quasi_identifier', 'entity') and "column" <> all ({{ kanon_pg.names(except) }})
{% endtest %}


{# What is checked of nothing would hold. #}
{% macro needs(arguments) %}
  {% for name, value in arguments.items() if execute and not value %}
    {{ exceptions.raise_compiler_error("The test needs the argument " ~ name ~ ".") }}
  {% endfor %}
{% endmacro %}
