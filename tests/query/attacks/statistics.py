"""What the server itself knows about the data and shows in its catalogs."""

from tests.query.cases import REFUSED, Attack, Channel, Secret, attack, backed, of_kind

_STATISTICS = {
    "pg_stats": "select most_common_vals::text from pg_stats where tablename = 'patients'",
    "pg_stats bounds": "select histogram_bounds::text from pg_catalog.pg_stats where attname = 'cost'",
    "pg_statistic": "select stavalues1::text from pg_statistic",
    "pg_stats_ext": "select * from pg_stats_ext",
    "pg_stat_user_tables": "select n_live_tup from pg_stat_user_tables where relname = 'patients'",
    "pg_stat_all_tables": "select n_tup_ins, seq_scan from pg_stat_all_tables",
    "pg_statio_all_tables": "select heap_blks_read from pg_statio_all_tables",
    "pg_class": "select reltuples from pg_class where relname = 'patients'",
    "pg_stat_activity": "select query from pg_stat_activity",
    "pg_stat_statements": "select query, rows from pg_stat_statements",
    "pg_locks": "select * from pg_locks",
    "pg_proc": "select prosrc from pg_proc where proname like 'kanon%'",
    "pg_settings": "select name, setting from pg_settings",
    "pg_authid": "select rolpassword from pg_authid",
    "pg_shadow": "select passwd from pg_shadow",
    "pg_views": "select definition from pg_views",
    "pg_rules": "select definition from pg_rules",
    "pg_constraint": "select conname, pg_get_constraintdef(oid) from pg_constraint",
    "pg_partitioned bounds": "select pg_get_expr(relpartbound, oid) from pg_class",
    "pg_largeobject": "select data from pg_largeobject",
    "pg_hba_file_rules": "select * from pg_hba_file_rules",
    "information_schema": "select * from information_schema.columns",
    "toast table": "select chunk_data from pg_toast.pg_toast_1",
    "record": "select * from kanon.query_log",
    "declarations": "select * from kanon.declarations",
    "foreign key tells that a row exists": "insert into query_evil.t select patient_id from"
    " hospital.patients",
}

_OF_THE_SERVER = {
    *("pg_stat_activity", "pg_stat_all_tables", "pg_statio_all_tables", "pg_locks", "information_schema"),
}
"""What differs between databases, whoever is in them."""

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "statistics and catalogs",
    *(attack(name, text, secret=Secret.SERVER, expect=backed("PostgreSQL shows it to every role") if name in _OF_THE_SERVER else REFUSED, channel=Channel.EFFECT) for name, text in _STATISTICS.items()),
)
# fmt: on
