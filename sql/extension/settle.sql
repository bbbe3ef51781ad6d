-- Which tables pg_dump carries, and whether the server finds the package. The version is not dumped: restoring runs the
-- scripts, which record their own.
{% for table in dumped %}
SELECT pg_catalog.pg_extension_config_dump({{ table }}, '');
{% endfor %}
SELECT kanon.versions()
