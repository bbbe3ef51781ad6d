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
    kanon.grant_read, kanon.grant_read_to, kanon.shards, kanon.revoke_read, kanon.base_changes,
    kanon.foreign_code, kanon.small_classes,
    kanon.small_release_classes, kanon.release_class_sizes
TO kanon_curator;

GRANT USAGE ON SCHEMA kanon TO kanon_reader;
GRANT SELECT ON TABLE kanon.declaration, kanon.protection, kanon.release TO kanon_reader;
{% if plpython %}

GRANT EXECUTE ON FUNCTION kanon.boot TO kanon_owner, kanon_curator, kanon_analyst;
GRANT EXECUTE ON FUNCTION
    kanon.declare,
    kanon.undeclare,
    kanon.protect,
    kanon.unprotect,
    kanon.anonymize,
    kanon.curve,
    kanon.certificate,
    kanon.composition,
    kanon.refresh,
    kanon.drop,
    kanon.erase,
    kanon.store_hierarchy,
    kanon.read_hierarchy,
    kanon.build_hierarchy,
    kanon.hierarchy_values,
    kanon.show_hierarchy,
    kanon.drop_hierarchy
TO kanon_curator;
GRANT EXECUTE ON FUNCTION
    kanon.measure,
    kanon.audit,
    kanon.identify,
    kanon.is_anonymous,
    kanon.suggest,
    kanon.risk,
    kanon.intervals,
    kanon.groups,
    kanon.regions,
    kanon.rectangles
TO kanon_analyst;

-- Analysts may name what serves their queries; the two functions of the reading role do nothing by themselves.
GRANT EXECUTE ON FUNCTION
    kanon.query,
    kanon.check_query,
    kanon.versions,
    kanon.install_check,
    kanon.ask,
    kanon.record_query,
    kanon.hold_relations,
    kanon.keep_marks,
    kanon.serve_query
TO kanon_analyst;
GRANT USAGE ON TYPE
    kanon.measures, kanon.violating_set, kanon.identifying_set, kanon.suggestion, kanon.risk,
    kanon.value_class, kanon.point_class
TO kanon_analyst;
GRANT USAGE ON TYPE kanon.curve_point, kanon.composition TO kanon_curator;

GRANT USAGE ON SCHEMA {{ api }} TO kanon_curator, kanon_analyst;
GRANT EXECUTE ON FUNCTION
    {{ api }}.kanon_declare,
    {{ api }}.kanon_undeclare,
    {{ api }}.kanon_protect,
    {{ api }}.kanon_unprotect,
    {{ api }}.kanon_anonymize,
    {{ api }}.kanon_curve,
    {{ api }}.kanon_certificate,
    {{ api }}.kanon_composition,
    {{ api }}.kanon_refresh,
    {{ api }}.kanon_drop,
    {{ api }}.kanon_erase,
    {{ api }}.kanon_hierarchy_define,
    {{ api }}.kanon_hierarchy_load,
    {{ api }}.kanon_hierarchy_build,
    {{ api }}.kanon_hierarchy_values,
    {{ api }}.kanon_hierarchy_show,
    {{ api }}.kanon_hierarchy_drop
TO kanon_curator;
GRANT EXECUTE ON FUNCTION
    {{ api }}.kanon_measure,
    {{ api }}.kanon_audit,
    {{ api }}.kanon_identify,
    {{ api }}.kanon_is_anonymous,
    {{ api }}.kanon_suggest,
    {{ api }}.kanon_risk,
    {{ api }}.kanon_intervals,
    {{ api }}.kanon_groups,
    {{ api }}.kanon_regions,
    {{ api }}.kanon_rectangles,
    {{ api }}.kanon_query,
    {{ api }}.kanon_query_record,
    {{ api }}.kanon_check_query,
    {{ api }}.kanon_help,
    {{ api }}.kanon_version,
    {{ api }}.kanon_install_check
TO kanon_analyst;
{% endif %}
