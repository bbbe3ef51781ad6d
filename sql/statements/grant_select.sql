-- Lets a role read a relation, or a column of it.
GRANT SELECT{% if column %} ({{ column }}){% endif %} ON {{ relation }} TO {{ role }}{% if grantable %} WITH GRANT OPTION{% endif %}
