-- Says how likely people are found again, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_risk(
    relation regclass,
    columns name[] DEFAULT NULL,
    sensitive name[] DEFAULT NULL,
    threshold double precision DEFAULT 0.2,
    population regclass DEFAULT NULL,
    sampling_fraction double precision DEFAULT NULL,
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.risk
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM kanon.risk(relation, columns, sensitive, threshold, population, sampling_fraction,
        extract(epoch FROM time_limit)::double precision);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_risk OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_risk FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_risk IS
'Says how likely people are found again in a table and its releases. Prosecutor, journalist and marketer risk, unique people, homogeneous classes; further rows have the releases.
Arguments:
relation: Any table, view or release that you may read.
columns: What an attacker knows, in place of the quasi-identifiers.
sensitive: In place of the declared ones.
threshold: Risk above which a record counts as being at risk.
population: Register of the population, with columns of the same names.
sampling_fraction: Share of the population in the table, without a register.
time_limit: How long to search; what is not proven by then is said.
Example: SELECT relation, prosecutor_risk, marketer_risk, share_above FROM kanon_risk(''patients'');';
