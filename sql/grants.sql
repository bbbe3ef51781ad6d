-- Which schemas the roles may see. Each object's file ends with who may use it.

GRANT USAGE ON SCHEMA safe TO kanon_analyst;
GRANT USAGE ON SCHEMA kanon TO kanon_analyst, kanon_curator, kanon_reader;
-- what has its caller's rights belongs to who installs
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA kanon TO kanon_owner;
{% if plpython %}
GRANT USAGE ON SCHEMA {{ api }} TO kanon_curator, kanon_analyst;
{% endif %}
