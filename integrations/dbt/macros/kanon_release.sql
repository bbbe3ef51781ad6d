{#
Publishes a model as a k-anonymous release.

The rows of the model go into a table of a private schema, so that what is granted on all tables of the model's schema is not
granted on them. It is filled again in place: what depends on it (declaration, release, rights) stays, where dbt's own tables are
dropped with all that depends on them. The model itself is a view of the release, so that ref() reads what is published. All of
it is one transaction.
#}
{% materialization kanon_release, adapter='postgres' %}
  {%- set schema = config.get("private_schema", this.schema ~ "__private") -%}
  {%- set private = this.incorporate(path={"schema": schema}, type="table") -%}
  {%- set rows = private.incorporate(path={"identifier": this.identifier ~ "__dbt_tmp"}, type="view") -%}
  {%- set published = this.incorporate(type="view") -%}
  {%- set release = config.get("release", this.identifier) -%}
  {%- set existing = load_cached_relation(this) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% call statement("main") -%}
    {% if not kanon_pg.is_true("to_regnamespace(" ~ kanon_pg.literal(adapter.quote(schema)) ~ ") is not null") -%}
    create schema {{ adapter.quote(schema) }};
    {%- endif %}
    create view {{ rows }} as (
      {{ sql }}
    );
  {%- endcall %}
  {#- whoever owns the schema could put a table of theirs into the place of the private one while this waits for it -#}
  {% if not kanon_pg.is_own_schema(schema) %}
    {{ exceptions.raise_compiler_error("Schema " ~ schema ~ " belongs to somebody else, who could read the rows; nothing was changed.") }}
  {% endif %}
  {%- set stored = kanon_pg.is_relation(private) -%}
  {% if stored and not kanon_pg.is_own(private) %}
    {{ exceptions.raise_compiler_error(private ~ " belongs to somebody else, who could read the rows; nothing was changed.") }}
  {% endif %}
  {%- set roles = kanon_pg.literal(tojson(
    [config.get("quasi_identifiers"), config.get("sensitive"), config.get("insensitive"), config.get("hierarchies")]
  )) -%}
  {#- with other roles the release has other columns, which no view can be replaced by -#}
  {%- set fits = stored and not should_full_refresh() and kanon_pg.same_columns(private, rows)
    and kanon_pg.is_true("obj_description(" ~ kanon_pg.regclass(private) ~ ", 'pg_class') = " ~ roles) -%}

  {% if not fits or (existing is not none and not existing.is_view) %}
    {% if existing is not none %}{% do adapter.drop_relation(existing) %}{% endif %}
  {% endif %}
  {% if fits %}
    {% do run_query("truncate " ~ private ~ "; insert into " ~ private ~ " select * from " ~ rows) %}
  {% else %}
    {% if stored %}{% do kanon_pg.forget(private) %}{% endif %}
    {% do run_query("create table " ~ private ~ " as select * from " ~ rows) %}
    {% do run_query("comment on table " ~ private ~ " is " ~ roles) %}
    {% do kanon_pg.keep_private(private) %}
  {% endif %}
  {% do run_query("drop view " ~ rows) %}

  {% do run_query(kanon_pg.declaration(private)) %}
  {% do run_query(kanon_pg.publication(private, release)) %}
  {%- set safe = api.Relation.create(schema="safe", identifier=release) -%}
  {% if not kanon_pg.is_true(kanon_pg.function("kanon_is_anonymous") ~ "(" ~ kanon_pg.regclass(safe) ~ ", " ~ config.require("k") ~ ")") %}
    {{ exceptions.raise_compiler_error("The release of " ~ this ~ " is not k-anonymous; nothing was changed.") }}
  {% endif %}
  {% do run_query("create or replace view " ~ published ~ " as select * from " ~ safe) %}
  {#- nobody brings a release of another name up to date -#}
  {% do kanon_pg.drop_releases(private, release) %}

  {% do apply_grants(published, config.get("grants"), should_revoke(existing, full_refresh_mode=not fits)) %}
  {% do persist_docs(published, model) %}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({"relations": [published]}) }}
{% endmaterialization %}


{# Takes away what default privileges gave. #}
{% macro keep_private(private) %}
  {%- set grantees = run_query(
    "select distinct case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end"
    ~ " from pg_class, aclexplode(relacl) where grantee <> relowner and oid = " ~ kanon_pg.regclass(private)
  ) -%}
  {% for grantee in grantees.columns[0].values() %}
    {% do run_query("revoke all on " ~ private ~ " from " ~ grantee) %}
  {% endfor %}
{% endmacro %}


{% macro declaration(private) %}
  select {{ kanon_pg.function("kanon_declare") }}({{ kanon_pg.regclass(private) }}
  {%- for role in ("identifiers", "quasi_identifiers", "sensitive", "insensitive") -%}
    , {{ role }} => {{ kanon_pg.names(config.get(role, [])) }}
  {%- endfor -%}
  {%- if config.get("entity") %}, entity => {{ kanon_pg.literal(config.get("entity")) }}{% endif -%}
  {%- if config.get("weights") %}, weights => {{ kanon_pg.literal(tojson(config.get("weights"))) }}{% endif -%}
  )
{% endmacro %}


{% macro publication(private, release) %}
  select {{ kanon_pg.function("kanon_anonymize") }}({{ kanon_pg.regclass(private) }}, {{ config.require("k") }}, release => {{ kanon_pg.literal(release) }}
  {%- for model in ("l", "p", "t") if config.get(model) is not none -%}
    , {{ model }} => {{ config.get(model) }}
  {%- endfor -%}
  {%- for option in ("patterns", "hierarchies", "options") if config.get(option) is not none -%}
    , {{ option }} => {{ kanon_pg.literal(tojson(config.get(option))) }}
  {%- endfor -%}
  {%- if config.get("time_limit") is not none %}, time_limit => make_interval(secs => {{ config.get("time_limit") }}){% endif -%}
  )
{% endmacro %}


{% macro forget(private) %}
  {% do kanon_pg.drop_releases(private) %}
  {% if kanon_pg.is_true("exists (select from kanon.declarations where relation = " ~ kanon_pg.regclass(private) ~ ")") %}
    {% do run_query("select " ~ kanon_pg.function("kanon_undeclare") ~ "(" ~ kanon_pg.regclass(private) ~ ")") %}
  {% endif %}
  {% do run_query("drop table " ~ private) %}
{% endmacro %}


{# Drops the releases of a private table, but for one. #}
{% macro drop_releases(private, kept="") %}
  {%- set releases = run_query(
    "select release from kanon.releases where base = " ~ kanon_pg.regclass(private) ~ " and release <> " ~ kanon_pg.literal(kept)
  ) -%}
  {% for release in releases.columns[0].values() %}
    {% do run_query("select " ~ kanon_pg.function("kanon_drop") ~ "(" ~ kanon_pg.literal(release) ~ ")") %}
  {% endfor %}
{% endmacro %}


{# A function where kanon has it: what the search path finds first could be somebody else's. #}
{% macro function(name) %}
  {%- if execute -%}
  {{ return(run_query(
    "select coalesce((select quote_ident(n.nspname) from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace"
    ~ " where p.proname = " ~ kanon_pg.literal(name) ~ " and obj_description(p.oid, 'pg_proc') like '%Example: %'"
    ~ " and p.proowner = (select nspowner from pg_namespace where nspname = 'kanon') limit 1), 'kanon') || '." ~ name ~ "'"
  ).columns[0].values()[0]) }}
  {%- endif -%}
{% endmacro %}


{% macro is_own(relation) %}
  {{ return(kanon_pg.is_true(
    "(select relowner = current_user::regrole from pg_class where oid = " ~ kanon_pg.regclass(relation) ~ ")"
  )) }}
{% endmacro %}


{# Superusers may read everything anyway. #}
{% macro is_own_schema(schema) %}
  {{ return(kanon_pg.is_true(
    "(select o.rolsuper or o.rolname = current_user from pg_namespace join pg_roles as o on o.oid = nspowner"
    ~ " where nspname = " ~ kanon_pg.literal(schema) ~ ")"
  )) }}
{% endmacro %}


{% macro is_relation(relation) %}
  {{ return(kanon_pg.is_true("to_regclass(" ~ kanon_pg.literal(relation) ~ ") is not null")) }}
{% endmacro %}


{% macro same_columns(one, other) %}
  {%- set columns -%}
    (select array_agg((attname, atttypid, atttypmod) order by attnum) from pg_attribute
    where attnum > 0 and not attisdropped and attrelid =
  {%- endset -%}
  {{ return(kanon_pg.is_true(
    columns ~ kanon_pg.regclass(one) ~ ") = " ~ columns ~ kanon_pg.regclass(other) ~ ")"
  )) }}
{% endmacro %}


{% macro is_true(condition) %}
  {{ return(run_query("select (" ~ condition ~ ") is true").columns[0].values()[0]) }}
{% endmacro %}


{% macro literal(text) %}'{{ text | string | replace("'", "''") }}'{% endmacro %}

{% macro regclass(relation) %}{{ kanon_pg.literal(relation) }}::regclass{% endmacro %}

{% macro names(columns) -%}
  {%- if execute and columns is string %}{{ exceptions.raise_compiler_error("Names of columns are a list, not " ~ columns ~ ".") }}{% endif -%}
  array[{% for column in columns %}{{ kanon_pg.literal(column) }}{{ ", " if not loop.last }}{% endfor %}]::name[]
{%- endmacro %}
