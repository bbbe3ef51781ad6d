-- Bodies in kanon_pg/plpython/releases.py.

CREATE OR REPLACE FUNCTION kanon.anonymize({{ anonymize.inner_parameters }}) RETURNS kanon.release_report
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("with_worker.releases.anonymize(*args)") }};
COMMENT ON FUNCTION kanon.anonymize IS 'Publishes a release; called by kanon_anonymize.';

CREATE OR REPLACE FUNCTION kanon.build_hierarchy({{ hierarchy_build.inner_parameters }}) RETURNS jsonb
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD' SET extra_float_digits = 1 SET bytea_output = 'hex'
AS {{ python("releases.build_hierarchy(*args)") }};
COMMENT ON FUNCTION kanon.build_hierarchy IS 'Builds a hierarchy over a column; called by kanon_hierarchy_build.';

CREATE OR REPLACE FUNCTION kanon.certificate({{ certificate.inner_parameters }}) RETURNS json
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("with_worker.releases.certificate(*args)") }};
COMMENT ON FUNCTION kanon.certificate IS 'Returns the certificate of a release; called by kanon_certificate.';

CREATE OR REPLACE FUNCTION kanon.composition({{ composition.inner_parameters }}) RETURNS SETOF kanon.composition
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("releases.composition(*args)") }};
COMMENT ON FUNCTION kanon.composition IS 'Says what several releases disclose together; called by kanon_composition.';

CREATE OR REPLACE FUNCTION kanon.declare({{ declare.inner_parameters }}) RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("releases.declare(*args)") }};
COMMENT ON FUNCTION kanon.declare IS 'Records the roles of a table''s columns; called by kanon_declare.';

CREATE OR REPLACE FUNCTION kanon.drop(release text) RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("releases.drop(*args)") }};
COMMENT ON FUNCTION kanon.drop IS 'Drops a release with its storage; called by kanon_drop.';

CREATE OR REPLACE FUNCTION kanon.drop_hierarchy(hierarchy text) RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("releases.drop_hierarchy(*args)") }};
COMMENT ON FUNCTION kanon.drop_hierarchy IS 'Forgets a hierarchy; called by kanon_hierarchy_drop.';

CREATE OR REPLACE FUNCTION kanon.erase(release text, person text[]) RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("releases.erase(*args)") }};
COMMENT ON FUNCTION kanon.erase IS 'Erases a person from a release over time; called by kanon_erase.';

CREATE OR REPLACE FUNCTION kanon.hierarchy_values(hierarchy text) RETURNS TABLE (value text, nodes text[])
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("releases.hierarchy_values(*args)") }};
COMMENT ON FUNCTION kanon.hierarchy_values IS 'Returns the values of a hierarchy; called by kanon_hierarchy_values.';

CREATE OR REPLACE FUNCTION kanon.link({{ link.inner_parameters }}) RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("releases.link(*args)") }};
COMMENT ON FUNCTION kanon.link IS 'Says whose people the rows of a table belong to; called by kanon_link.';

CREATE OR REPLACE FUNCTION kanon.missing_values({{ hierarchy_missing.inner_parameters }}, known text[])
RETURNS TABLE (value text, rows bigint)
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD' SET extra_float_digits = 1 SET bytea_output = 'hex'
AS {{ python("releases.missing_values(*args)") }};
COMMENT ON FUNCTION kanon.missing_values IS 'Lists the values of a column that are not among some; called by kanon_hierarchy_missing.';

CREATE OR REPLACE FUNCTION kanon.read_hierarchy({{ hierarchy_load.inner_parameters }}) RETURNS jsonb
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD' SET extra_float_digits = 1 SET bytea_output = 'hex'
AS {{ python("releases.read_hierarchy(*args)") }};
COMMENT ON FUNCTION kanon.read_hierarchy IS 'Reads a hierarchy from a table; called by kanon_hierarchy_load.';

CREATE OR REPLACE FUNCTION kanon.refresh(release text) RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("with_worker.releases.refresh(*args)") }};
COMMENT ON FUNCTION kanon.refresh IS 'Brings a release up to date; called by kanon_refresh.';

CREATE OR REPLACE FUNCTION kanon.show_hierarchy({{ hierarchy_show.inner_parameters }}) RETURNS SETOF text
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("releases.show_hierarchy(*args)") }};
COMMENT ON FUNCTION kanon.show_hierarchy IS 'Shows a hierarchy as a tree; called by kanon_hierarchy_show.';

CREATE OR REPLACE FUNCTION kanon.store_hierarchy(hierarchy text, definition jsonb) RETURNS integer
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("releases.store_hierarchy(*args)") }};
COMMENT ON FUNCTION kanon.store_hierarchy IS 'Checks a hierarchy and stores it; called by kanon_hierarchy_define, kanon_hierarchy_load and kanon_hierarchy_build.';

CREATE OR REPLACE FUNCTION kanon.undeclare(relation regclass) RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("releases.undeclare(*args)") }};
COMMENT ON FUNCTION kanon.undeclare IS 'Forgets the roles of a table''s columns; called by kanon_undeclare.';

CREATE OR REPLACE FUNCTION kanon.unlink(child regclass) RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("releases.unlink(*args)") }};
COMMENT ON FUNCTION kanon.unlink IS 'Forgets whose people the rows of a table belong to; called by kanon_unlink.';

-- Who may use them.
GRANT EXECUTE ON FUNCTION
    kanon.anonymize, kanon.build_hierarchy, kanon.certificate, kanon.composition, kanon.declare, kanon.drop, kanon.drop_hierarchy,
    kanon.erase, kanon.hierarchy_values, kanon.link, kanon.missing_values, kanon.read_hierarchy, kanon.refresh, kanon.show_hierarchy,
    kanon.store_hierarchy, kanon.undeclare, kanon.unlink
TO kanon_curator;
