-- Who may do what. Everything was closed to PUBLIC when it was created; this file opens, and comes last.

GRANT USAGE ON SCHEMA safe TO kanon_analyst;
GRANT SELECT ON ALL TABLES IN SCHEMA safe TO kanon_analyst;
GRANT USAGE ON SCHEMA kanon TO kanon_analyst;
GRANT SELECT ON TABLE kanon.published_roles TO kanon_analyst;

GRANT USAGE ON SCHEMA kanon TO kanon_curator;
GRANT SELECT ON TABLE kanon.declarations, kanon.hierarchies, kanon.protections, kanon.releases, kanon.violations
TO kanon_curator;
GRANT INSERT (operation) ON TABLE kanon.request TO kanon_curator;
GRANT USAGE ON TYPE kanon.release_report TO kanon_curator;
GRANT EXECUTE ON FUNCTION
    kanon.lend(regclass), kanon.lend_to(regclass, name), kanon.take_back(regclass), kanon.base_changes(regclass),
    kanon.foreign_code(regclass), kanon.small_classes(regclass, name[], name, integer),
    kanon.small_release_classes(text), kanon.release_class_sizes(text)
TO kanon_curator;

GRANT USAGE ON SCHEMA kanon TO kanon_reader;
GRANT SELECT ON TABLE kanon.declaration, kanon.protection, kanon.release TO kanon_reader;
{% if plpython %}

GRANT EXECUTE ON FUNCTION kanon.boot() TO kanon_owner, kanon_curator, kanon_analyst;
GRANT EXECUTE ON FUNCTION
    kanon.declare(regclass, name[], name[], name[], name[], name, jsonb),
    kanon.undeclare(regclass),
    kanon.protect(regclass, integer, jsonb),
    kanon.unprotect(regclass),
    kanon.anonymize(
        regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb,
        double precision, name, integer, jsonb
    ),
    kanon.curve(regclass, integer[], name[], jsonb, text, double precision, integer),
    kanon.refresh(name),
    kanon.drop(name),
    kanon.store_hierarchy(name, jsonb),
    kanon.read_hierarchy(regclass, jsonb),
    kanon.build_hierarchy(regclass, name, jsonb, jsonb),
    kanon.hierarchy_values(name),
    kanon.show_hierarchy(name, integer),
    kanon.drop_hierarchy(name)
TO kanon_curator;
GRANT EXECUTE ON FUNCTION
    kanon.measure(regclass, name[], name[]),
    kanon.audit(regclass, integer, name[], integer, double precision),
    kanon.identify(regclass, name[], double precision),
    kanon.is_anonymous(regclass, integer, name[]),
    kanon.suggest(regclass, double precision),
    kanon.risk(regclass, name[], name[], double precision, regclass, double precision, double precision),
    kanon.intervals(regclass, name, integer, name, text, double precision),
    kanon.groups(regclass, name, integer, text, name, text, double precision, double precision),
    kanon.regions(regclass, name, regclass, integer, name[], name, text, text, text, double precision),
    kanon.rectangles(regclass, name, name, integer, name, text, text, double precision)
TO kanon_analyst;

-- Analysts may name what serves their queries; the two functions of the reading role do nothing by themselves.
GRANT EXECUTE ON FUNCTION
    kanon.query(text, text[], name[]),
    kanon.check_query(text, name[]),
    kanon.versions(),
    kanon.install_check(),
    kanon.ask(text, text[], name[]),
    kanon.record_query(text, name[]),
    kanon.hold_relations(),
    kanon.serve_query()
TO kanon_analyst;
GRANT USAGE ON TYPE
    kanon.measures, kanon.violating_set, kanon.identifying_set, kanon.suggestion, kanon.risk,
    kanon.value_class, kanon.point_class
TO kanon_analyst;
GRANT USAGE ON TYPE kanon.curve_point TO kanon_curator;

GRANT USAGE ON SCHEMA {{ api }} TO kanon_curator, kanon_analyst;
GRANT EXECUTE ON FUNCTION
    {{ api }}.kanon_declare(regclass, name[], name[], name[], name[], name, jsonb),
    {{ api }}.kanon_undeclare(regclass),
    {{ api }}.kanon_protect(regclass, integer, jsonb),
    {{ api }}.kanon_unprotect(regclass),
    {{ api }}.kanon_anonymize(
        regclass, integer, name[], name[], text, integer, integer, double precision, jsonb, jsonb,
        interval, name, integer, jsonb
    ),
    {{ api }}.kanon_curve(regclass, integer[], name[], jsonb, text, interval, integer),
    {{ api }}.kanon_refresh(name),
    {{ api }}.kanon_drop(name),
    {{ api }}.kanon_hierarchy_define(name, jsonb, jsonb),
    {{ api }}.kanon_hierarchy_load(name, regclass, jsonb),
    {{ api }}.kanon_hierarchy_build(name, regclass, name, jsonb, jsonb),
    {{ api }}.kanon_hierarchy_values(name),
    {{ api }}.kanon_hierarchy_show(name, integer),
    {{ api }}.kanon_hierarchy_drop(name)
TO kanon_curator;
GRANT EXECUTE ON FUNCTION
    {{ api }}.kanon_measure(regclass, name[], name[]),
    {{ api }}.kanon_audit(regclass, integer, name[], integer, interval),
    {{ api }}.kanon_identify(regclass, name[], interval),
    {{ api }}.kanon_is_anonymous(regclass, integer, name[]),
    {{ api }}.kanon_suggest(regclass, interval),
    {{ api }}.kanon_risk(regclass, name[], name[], double precision, regclass, double precision, interval),
    {{ api }}.kanon_intervals(regclass, name, integer, name, text, interval),
    {{ api }}.kanon_groups(regclass, name, integer, text, name, text, double precision, interval),
    {{ api }}.kanon_regions(regclass, name, regclass, integer, name[], name, text, text, text, interval),
    {{ api }}.kanon_rectangles(regclass, name, name, integer, name, text, text, interval),
    {{ api }}.kanon_query(text, text[], name[]),
    {{ api }}.kanon_query_record(text, text[], name[]),
    {{ api }}.kanon_check_query(text, name[]),
    {{ api }}.kanon_help(text),
    {{ api }}.kanon_version(),
    {{ api }}.kanon_install_check()
TO kanon_analyst;
{% endif %}
