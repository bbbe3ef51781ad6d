CREATE OR REPLACE FUNCTION {{ api }}.kanon_risk({{ risk.parameters }}) RETURNS SETOF kanon.risk
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.risk({{ risk.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_risk IS 'Says how likely people are found again in a table and its releases. Prosecutor, journalist and marketer risk, unique people, homogeneous classes; further rows have the releases.
Arguments:
{{ risk.help }}
Example: SELECT relation, prosecutor_risk, marketer_risk, share_above FROM kanon_risk(''patients'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_risk TO kanon_analyst;
