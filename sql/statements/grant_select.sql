-- Lets a role read a relation.
GRANT SELECT ON {{ relation }} TO {{ role }}
