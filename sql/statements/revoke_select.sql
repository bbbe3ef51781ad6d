-- Takes the right to read a relation from a role.
REVOKE SELECT ON {{ relation }} FROM {{ role }}
