"""What may be called is written down here once more: nothing is added to a list without a second thought.

Before a name comes here: can it fail on a value, or run long? Does it read or change anything but its
arguments? Can its result, or an error, tell one person's value? Give it an attack in `tests/query/attacks`.
"""

from __future__ import annotations

import pytest

from kanon_pg.gateway import allowed_names
from kanon_pg.queries.check.functions import (
    AGGREGATES,
    EXTREMES,
    FUNCTIONS,
    PERCENTILES,
    SUMS,
    Overload,
    Summary,
)

QUERY_FUNCTIONS = """
    lower(text) text
    upper(text) text
    initcap(text) text
    reverse(text) text
    length(text) int4
    char_length(text) int4
    character_length(text) int4
    btrim(text) text
    btrim(text, text=characters) text
    ltrim(text) text
    ltrim(text, text=characters) text
    rtrim(text) text
    rtrim(text, text=characters) text
    left(text, int4=length) text
    right(text, int4=length) text
    substring(text, int4=position) text
    substring(text, int4=position, int4=length) text
    substr(text, int4=position) text
    substr(text, int4=position, int4=length) text
    split_part(text, text=characters, int4=position) text
    strpos(text, text=characters) int4
    abs(int8) int8
    abs(float8) float8
    abs(numeric) numeric
    ceil(float8) float8
    ceil(numeric) numeric
    ceiling(float8) float8
    ceiling(numeric) numeric
    floor(float8) float8
    floor(numeric) numeric
    sign(float8) float8
    sign(numeric) numeric
    round(float8) float8
    round(numeric) numeric
    round(numeric, int4=digits) numeric
    trunc(float8) float8
    trunc(numeric) numeric
    trunc(numeric, int4=digits) numeric
    sqrt(float8) float8
    sqrt(numeric) numeric
    ln(float8) float8
    ln(numeric) numeric
    log(float8) float8
    log(numeric) numeric
    log10(float8) float8
    log10(numeric) numeric
    width_bucket(float8, float8=number, float8=number, int4=buckets) int4
    width_bucket(numeric, numeric=number, numeric=number, int4=buckets) int4
    date_trunc(text=unit, timestamptz) timestamptz
    date_trunc(text=unit, timestamp) timestamp
    date_part(text=timestamptz_field, timestamptz) float8
    date_part(text=timestamp_field, timestamp) float8
    date_part(text=date_field, date) float8
    date_part(text=interval_field, interval) float8
    extract(text=timestamptz_field, timestamptz) numeric
    extract(text=timestamp_field, timestamp) numeric
    extract(text=date_field, date) numeric
    extract(text=interval_field, interval) numeric
    age(timestamptz, timestamptz) interval
    age(timestamp, timestamp) interval
    age(timestamp) interval
    to_char(timestamptz, text=format) text
    to_char(timestamp, text=format) text
"""
"""Signatures; an argument that must be a constant has the name of its check."""

QUERY_AGGREGATES = """
    sum: int2>int8 int4>int8 int8>numeric numeric float4 float8
    avg stddev stddev_samp stddev_pop: int2>numeric int4>numeric int8>numeric numeric float4>float8 float8
    variance var_samp var_pop: int2>numeric int4>numeric int8>numeric numeric float4>float8 float8
    min max percentile_disc: int2 int4 int8 numeric float4 float8 text date timestamp timestamptz time
    mode: int2 int4 int8 numeric float4 float8 text date timestamp timestamptz time bool
    bool_and bool_or every: bool
    string_agg: text
    percentile_cont: float8
"""
"""Names, and types that they take, with the type of the result where that is another one."""

HARMLESS_CATALOGS = """
    pg_aggregate pg_am pg_amop pg_amproc pg_auth_members pg_available_extension_versions
    pg_available_extensions pg_cast pg_collation pg_conversion pg_cursors pg_db_role_setting
    pg_default_acl pg_depend pg_enum pg_event_trigger pg_extension pg_foreign_data_wrapper
    pg_foreign_server pg_foreign_table pg_inherits pg_language pg_opclass pg_operator pg_opfamily
    pg_prepared_statements pg_publication pg_publication_namespace pg_range pg_settings pg_shdescription
    pg_tablespace pg_timezone_abbrevs pg_timezone_names pg_transform pg_ts_config pg_ts_config_map
    pg_ts_dict pg_ts_parser pg_ts_template
"""

STABLE_FUNCTIONS = """
    acldefault aclexplode age array_agg array_to_json array_to_string array_to_tsvector btrim ceil
    clock_timestamp col_description concat concat_ws convert current_catalog current_database current_role
    current_schema current_schemas current_setting current_user date date_bin date_part date_trunc extract
    floor format format_type gen_random_uuid generate_series getdatabaseencoding has_any_column_privilege
    has_column_privilege has_database_privilege has_foreign_data_wrapper_privilege has_function_privilege
    has_language_privilege has_schema_privilege has_sequence_privilege has_server_privilege
    has_table_privilege has_tablespace_privilege has_type_privilege inet_client_addr inet_client_port
    inet_server_addr inet_server_port json_agg json_build_array json_build_object json_object_agg
    jsonb_agg jsonb_build_array jsonb_build_object jsonb_object_agg left length lower ltrim
    make_timestamptz makeaclitem name now obj_description overlaps overlay percentile_cont percentile_disc
    pg_advisory_unlock_all pg_available_extensions pg_backend_pid pg_char_to_encoding
    pg_client_encoding pg_collation_is_visible pg_conf_load_time pg_conversion_is_visible
    pg_describe_object pg_encoding_to_char
    pg_function_is_visible pg_get_expr pg_get_function_arg_default pg_get_function_arguments
    pg_get_function_identity_arguments pg_get_function_result pg_get_keywords pg_get_object_address
    pg_get_serial_sequence pg_get_userbyid pg_has_role pg_identify_object pg_index_column_has_property
    pg_index_has_property pg_indexam_has_property pg_is_in_recovery pg_my_temp_schema
    pg_opclass_is_visible pg_operator_is_visible pg_opfamily_is_visible pg_options_to_table
    pg_partition_ancestors pg_partition_root pg_postmaster_start_time pg_relation_is_publishable
    pg_relation_is_updatable pg_show_all_settings pg_statistics_obj_is_visible pg_table_is_visible
    pg_tablespace_location pg_ts_config_is_visible pg_ts_dict_is_visible pg_ts_parser_is_visible
    pg_ts_template_is_visible pg_type_is_visible pg_typeof plainto_tsquery position quote_literal
    quote_nullable random right round row_security_active row_to_json rtrim session_user shobj_description
    statement_timestamp string_to_array string_to_table substring text timeofday timezone to_char to_date
    to_json to_jsonb to_number to_regclass to_regcollation to_regnamespace to_regoper to_regoperator
    to_regproc to_regprocedure to_regrole to_regtype to_timestamp to_tsquery to_tsvector
    transaction_timestamp trim txid_current_if_assigned unnest upper user version width_bucket
"""

OWN_FUNCTIONS = """
    kanon_check_query kanon_help kanon_install_check kanon_measure kanon_query kanon_query_record
    kanon_version
"""

SYNTAX_FUNCTIONS = """
    array bit bpchar cast char character coalesce current_date current_time current_timestamp dec decimal
    extract float greatest grouping interval least localtime localtimestamp nchar normalize nullif numeric
    overlay position precision row substring time timestamp timestamptz trim varchar varying
"""


def signature(name: str, overload: Overload) -> str:
    arguments = (
        f"{kind}={overload.constants[place].replace(' ', '_')}" if place in overload.constants else kind
        for place, kind in enumerate(overload.takes)
    )
    return f"{name}({', '.join(arguments)}) {overload.gives}"


def form(summary: Summary) -> str:
    return summary.takes if summary.takes == summary.gives else f"{summary.takes}>{summary.gives}"


def test_queries_may_call_these_functions_and_no_others() -> None:
    found = {signature(name, overload) for name, overloads in FUNCTIONS.items() for overload in overloads}
    assert found == {line.strip() for line in QUERY_FUNCTIONS.strip().splitlines()}


def test_queries_may_aggregate_by_these_and_no_others() -> None:
    wanted = {}
    for line in QUERY_AGGREGATES.strip().splitlines():
        names, forms = line.split(":")
        wanted.update(dict.fromkeys(names.split(), forms.split()))
    assert {name: [form(one) for one in summaries] for name, summaries in AGGREGATES.items()} == wanted
    assert {"percentile_cont", "percentile_disc"} == PERCENTILES
    assert {"min", "max"} == EXTREMES
    assert {"sum", "avg"} == SUMS


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (allowed_names.HARMLESS_CATALOGS, HARMLESS_CATALOGS),
        (allowed_names.STABLE_FUNCTIONS, STABLE_FUNCTIONS),
        (allowed_names.OWN_FUNCTIONS, OWN_FUNCTIONS),
        (allowed_names.SYNTAX_FUNCTIONS, SYNTAX_FUNCTIONS),
    ],
    ids=["catalogs", "functions", "own functions", "syntax"],
)
def test_other_statements_pass_the_gateway_with_these_names_and_no_others(
    found: frozenset[str], wanted: str
) -> None:
    assert found == set(wanted.split())
