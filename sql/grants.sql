-- Who may do what. Everything was closed to PUBLIC when it was created; this file opens, and comes last.

GRANT USAGE ON SCHEMA safe TO kanon_analyst;
GRANT SELECT ON ALL TABLES IN SCHEMA safe TO kanon_analyst;

GRANT USAGE ON SCHEMA kanon TO kanon_curator;
GRANT SELECT ON TABLE kanon.declarations, kanon.releases TO kanon_curator;
GRANT INSERT (operation) ON TABLE kanon.request TO kanon_curator;
GRANT USAGE ON TYPE kanon.release_report TO kanon_curator;
GRANT EXECUTE ON FUNCTION kanon.lend(regclass), kanon.base_changes(regclass) TO kanon_curator;
{% if plpython %}

GRANT EXECUTE ON FUNCTION kanon.boot() TO kanon_owner, kanon_curator, kanon_analyst;
GRANT EXECUTE ON FUNCTION
    kanon.declare(regclass, name[], name[], name[], name[], name, jsonb),
    kanon.undeclare(regclass),
    kanon.anonymize(
        regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb,
        double precision, name, integer, jsonb
    ),
    kanon.curve(regclass, integer[], name[], jsonb, text, double precision, integer),
    kanon.refresh(name),
    kanon.drop(name)
TO kanon_curator;
GRANT EXECUTE ON FUNCTION kanon.measure(regclass, name[], name[]) TO kanon_analyst;
GRANT USAGE ON TYPE kanon.measures TO kanon_analyst;
GRANT USAGE ON TYPE kanon.curve_point TO kanon_curator;

GRANT USAGE ON SCHEMA {{ api }} TO kanon_curator, kanon_analyst;
GRANT EXECUTE ON FUNCTION
    {{ api }}.kanon_declare(regclass, name[], name[], name[], name[], name, jsonb),
    {{ api }}.kanon_undeclare(regclass),
    {{ api }}.kanon_anonymize(
        regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb,
        interval, name, integer, jsonb
    ),
    {{ api }}.kanon_curve(regclass, integer[], name[], jsonb, text, interval, integer),
    {{ api }}.kanon_refresh(name),
    {{ api }}.kanon_drop(name)
TO kanon_curator;
GRANT EXECUTE ON FUNCTION
    {{ api }}.kanon_measure(regclass, name[], name[]),
    {{ api }}.kanon_help(),
    {{ api }}.kanon_version(),
    {{ api }}.kanon_install_check()
TO kanon_analyst;
{% endif %}
