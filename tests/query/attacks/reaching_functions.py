"""Functions that run SQL, read files, change settings, take locks or talk to other sessions."""

from tests.query.attacks.shared_parts import IS_IN_ONCOLOGY
from tests.query.cases import Attack, Channel, Secret, V, alike, attack, backed, of_kind

_REACH = {
    "query_to_xml": "query_to_xml('select name from hospital.patients', true, true, '')",
    "table_to_xml": "table_to_xml('hospital.patients', true, true, '')",
    "cursor_to_xml": "cursor_to_xml('c', 1, true, true, '')",
    "database_to_xml": "database_to_xml(true, true, '')",
    "query_to_xmlschema": "query_to_xmlschema('select * from hospital.payroll', true, true, '')",
    "dblink": "dblink('dbname=postgres', 'select 1')",
    "pg_read_file": "pg_read_file('/etc/passwd')",
    "pg_read_binary_file": "pg_read_binary_file('PG_VERSION')",
    "pg_ls_dir": "pg_ls_dir('.')",
    "pg_stat_file": "pg_stat_file('PG_VERSION')",
    "lo_import": "lo_import('/etc/passwd')",
    "lo_export": "lo_export(1, '/tmp/kanon-attack')",
    "set_config": "set_config('search_path', 'pg_temp', false)",
    "current_setting": "current_setting('kanon.python_path', true)",
    "pg_sleep": "pg_sleep(0)",
    "pg_advisory_lock": "pg_advisory_lock(42)",
    "pg_try_advisory_xact_lock": "pg_try_advisory_xact_lock(42)",
    "pg_notify": "pg_notify('evil', 'x')",
    "nextval": "nextval('hospital.ticket')",
    "setval": "setval('hospital.ticket', 99)",
    "lastval": "lastval()",
    "txid_current": "txid_current()",
    "pg_current_xact_id": "pg_current_xact_id()",
    "pg_export_snapshot": "pg_export_snapshot()",
    "pg_cancel_backend": "pg_cancel_backend(pg_backend_pid())",
    "pg_terminate_backend": "pg_terminate_backend(0)",
    "pg_reload_conf": "pg_reload_conf()",
    "pg_rotate_logfile": "pg_rotate_logfile()",
    "pg_switch_wal": "pg_switch_wal()",
    "pg_stat_reset": "pg_stat_reset()",
    "pg_logical_emit_message": "pg_logical_emit_message(false, 'a', 'b')",
    "has_table_privilege": "has_table_privilege('hospital.payroll', 'select')",
    "pg_relation_size": "pg_relation_size('hospital.patients')",
    "pg_get_viewdef": "pg_get_viewdef('hospital.weather')",
    "to_regclass": "to_regclass('hospital.payroll')",
    "pg_typeof": "pg_typeof(1)",
    "version": "version()",
    "inet_server_addr": "inet_server_addr()",
    "ts_stat": "ts_stat('select to_tsvector(name) from hospital.patients')",
    "ts_rewrite": "ts_rewrite('a'::tsquery, 'select ''a''::tsquery, ward::tsquery from hospital.patients')",
    "pg_event_trigger_ddl_commands": "pg_event_trigger_ddl_commands()",
    "brin_summarize_new_values": "brin_summarize_new_values('hospital.patients')",
    "gin_clean_pending_list": "gin_clean_pending_list('hospital.patients')",
    "kanon_anonymize": "kanon_anonymize('hospital.patients', 2)",
    "kanon_query in a query": "kanon_query('select count(*) from hospital.patients')",
    "kanon.boot": "kanon.boot()",
    "internal aggregate function": "int4_sum(null, 1)",
    "input function": "textin('x')",
    "function by its schema": "pg_catalog.set_config('role', 'none', false)",
}

_OF_THE_MOMENT = {
    "database_to_xml",
    "txid_current",
    "pg_current_xact_id",
    "pg_export_snapshot",
    "pg_logical_emit_message",
}
"""Calls whose results differ between databases and moments, whoever is in them."""

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "functions that reach outside",
    *(attack(f"{name} in the list", f"select {call}", secret=Secret.SERVER, channel=Channel.EFFECT, expect=backed("PostgreSQL runs it, with the rights of whoever asks")) for name, call in _REACH.items() if name in _OF_THE_MOMENT),
    *(attack(f"{name} in the list", f"select {call}", secret=Secret.SERVER, channel=Channel.EFFECT) for name, call in _REACH.items() if name not in _OF_THE_MOMENT),
    attack("set_config in an honest query", "select ward, count(*) from patients where set_config('a.b', ward, false) is not null group by ward", secret=Secret.SERVER, channel=Channel.EFFECT),
    *alike({
        "setting read in a query": f"select count(*) from patients where {V} and ward = current_setting('my.guess', true)",
        "sequence counts the rows": f"select count(*) from patients where {IS_IN_ONCOLOGY} and nextval('hospital.ticket') > 0",
        "lock for one person": f"select count(*) from patients where {IS_IN_ONCOLOGY} and pg_advisory_lock(birth_date - date '2000-01-01') is not null",
        "notification for one person": f"select count(pg_notify('evil', ward)) from patients where {V}",
        "large object for one person": f"select count(lo_from_bytea(0, ward::bytea)) from patients where {V}",
    }, secret=Secret.WARD, channel=Channel.EFFECT),
    *alike({
        "function in FROM that runs SQL": "select * from ts_stat('select to_tsvector(ward) from hospital.patients')",
        "xpath over exported rows": "select xpath('//ward/text()', query_to_xml('select ward from hospital.patients where birth_date = ''1957-05-09''', true, true, ''))::text",
        "xmltable over exported rows": "select x.ward from xmltable('//row' passing query_to_xml('select ward from hospital.patients where birth_date = ''1957-05-09''', true, false, '') columns ward text) as x",
    }, secret=Secret.WARD),
    *alike({
        "payroll through xml": "select query_to_xml('select * from hospital.payroll', true, true, '')::text",
        "payroll by name": "select salary from payroll",
        "payroll in a join": "select avg(salary) from payroll join patients on true",
    }, secret=Secret.PAYROLL, channel=Channel.EFFECT),
)
# fmt: on
