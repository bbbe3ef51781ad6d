{# The values of a stored hierarchy with their nodes, as a part of another statement. -#}
SELECT value, nodes FROM kanon.hierarchy_value WHERE hierarchy = {{ name }} AND version = {{ version }}
