-- Bodies in kanon_pg/plpython/reports.py.

CREATE OR REPLACE FUNCTION kanon.release_report({{ release_report.inner_parameters }}) RETURNS jsonb
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("reports.release_report(*args)") }};
COMMENT ON FUNCTION kanon.release_report IS 'Says what a release keeps of its table; called by kanon_release_report.';
GRANT EXECUTE ON FUNCTION kanon.release_report TO kanon_curator;
