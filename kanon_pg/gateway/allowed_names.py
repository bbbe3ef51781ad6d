"""Catalogs and functions that statements may name if they read no protected table, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CATALOG_VIEWS: Final = "kanon_catalog"
"""Schema of the views that stand for PostgreSQL's catalogs."""

HARMLESS_CATALOGS: Final = _words(
    """
    pg_aggregate pg_am pg_amop pg_amproc pg_auth_members pg_available_extensions
    pg_available_extension_versions pg_cast pg_collation pg_conversion pg_cursors pg_db_role_setting
    pg_default_acl pg_depend pg_enum pg_event_trigger pg_extension pg_foreign_data_wrapper pg_foreign_server
    pg_foreign_table pg_inherits pg_language pg_opclass pg_operator pg_opfamily
    pg_prepared_statements pg_publication pg_publication_namespace
    pg_range pg_settings pg_shdescription
    pg_tablespace pg_timezone_abbrevs pg_timezone_names pg_transform pg_ts_config pg_ts_config_map
    pg_ts_dict pg_ts_parser pg_ts_template
"""
)
"""Catalogs without anything about the contents of tables: they pass as they are."""

STABLE_FUNCTIONS: Final = _words(
    """
    current_catalog current_database current_role current_schema current_schemas current_setting
    current_user inet_client_addr inet_client_port inet_server_addr inet_server_port pg_backend_pid
    pg_char_to_encoding
    pg_client_encoding pg_is_in_recovery pg_my_temp_schema pg_postmaster_start_time
    pg_show_all_settings session_user user version pg_advisory_unlock_all pg_conf_load_time
    txid_current_if_assigned
    age clock_timestamp date date_bin date_part date_trunc extract gen_random_uuid now random
    statement_timestamp timeofday timezone transaction_timestamp make_timestamptz to_char to_date
    to_number to_timestamp generate_series overlaps
    acldefault aclexplode col_description format_type getdatabaseencoding has_any_column_privilege
    has_column_privilege has_database_privilege has_foreign_data_wrapper_privilege
    has_function_privilege has_language_privilege has_schema_privilege has_sequence_privilege
    has_server_privilege has_table_privilege has_tablespace_privilege has_type_privilege makeaclitem
    obj_description shobj_description pg_collation_is_visible pg_conversion_is_visible
    pg_available_extensions pg_describe_object pg_encoding_to_char pg_function_is_visible pg_get_expr
    pg_get_function_arg_default pg_get_function_arguments pg_get_function_identity_arguments
    pg_get_function_result pg_get_keywords pg_get_object_address pg_get_serial_sequence
    pg_get_userbyid pg_has_role pg_identify_object pg_index_column_has_property
    pg_index_has_property pg_indexam_has_property pg_options_to_table pg_opclass_is_visible
    pg_operator_is_visible pg_opfamily_is_visible pg_relation_is_publishable
    pg_relation_is_updatable pg_statistics_obj_is_visible pg_table_is_visible pg_tablespace_location
    pg_ts_config_is_visible pg_ts_dict_is_visible pg_ts_parser_is_visible pg_ts_template_is_visible
    pg_type_is_visible pg_typeof format to_regclass to_regcollation to_regnamespace to_regoper
    to_regoperator to_regproc to_regprocedure to_regrole to_regtype row_security_active
    pg_partition_ancestors pg_partition_root
    array_agg array_to_json array_to_string array_to_tsvector concat concat_ws convert json_agg
    json_build_array json_build_object json_object_agg jsonb_agg jsonb_build_array
    jsonb_build_object jsonb_object_agg quote_literal quote_nullable row_to_json string_to_array
    string_to_table to_json to_jsonb to_tsquery to_tsvector plainto_tsquery unnest width_bucket
    substring position overlay trim ltrim rtrim btrim length lower upper round ceil floor text name
    left right percentile_cont percentile_disc
"""
)
"""Functions of ``pg_catalog`` that are not immutable in all forms, and neither act nor read tables' rows."""

OWN_FUNCTIONS: Final = _words(
    """
    kanon_query kanon_query_record kanon_check_query kanon_measure kanon_help kanon_version
    kanon_install_check
"""
)
"""Functions of this package that an analyst may call."""

SYNTAX_FUNCTIONS: Final = _words(
    """
    cast coalesce nullif greatest least extract position substring overlay trim grouping normalize
    row array varchar char character varying numeric decimal dec bit time timestamp timestamptz
    interval float bpchar nchar precision current_date current_time current_timestamp localtime
    localtimestamp
"""
)
"""Functions and types with parentheses that are PostgreSQL's syntax."""

BEFORE_PARENTHESIS: Final = _words(
    """
    all and any as asc between by case collate cross cube desc distinct else end escape except
    exists fetch filter first for from full group having ilike in inner intersect is join lateral
    left like limit natural next not notnull nulls offset on only operator or order outer over
    overlaps partition range recursive right rollup rows select sets similar some symmetric then to
    union using values when where window with materialized within zone groups
"""
)
"""Words of the grammar that an opening parenthesis may follow without a call."""


@dataclass(frozen=True, slots=True)
class AllowedNames:
    """Names of the connected server that statements may use.

    Parameters
    ----------
    catalogs : frozenset of str
        Relations of ``pg_catalog``.
    views : frozenset of str
        Relations of `CATALOG_VIEWS`; each stands for that of the same name in ``pg_catalog`` or
        ``information_schema``.
    view_functions : frozenset of str
        Functions of `CATALOG_VIEWS`, which stand for those of ``pg_catalog``.
    functions : frozenset of str
        Functions of ``pg_catalog`` that are immutable in all forms, and aggregates.
    api_schema : str
        Schema of the functions of this package.
    """

    catalogs: frozenset[str] = frozenset()
    views: frozenset[str] = frozenset()
    view_functions: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    api_schema: str = "public"

    def may_call(self, schema: str | None, name: str) -> bool:
        """Whether a function may be called by this name."""
        if name in OWN_FUNCTIONS:
            return schema in (None, self.api_schema)
        if schema == "information_schema":
            return name.startswith("_pg_")  # what its own views are made with
        if schema not in (None, "pg_catalog"):
            return False
        return name in STABLE_FUNCTIONS or name in self.functions
