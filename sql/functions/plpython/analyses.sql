-- Bodies in kanon_pg/plpython/analyses.py.

CREATE OR REPLACE FUNCTION kanon.audit({{ audit.inner_parameters }}) RETURNS SETOF kanon.violating_set
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("with_worker.analyses.audit(*args)") }};
COMMENT ON FUNCTION kanon.audit IS 'Finds the sets of columns that single people out; called by kanon_audit.';

CREATE OR REPLACE FUNCTION kanon.curve({{ curve.inner_parameters }}) RETURNS SETOF kanon.curve_point
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("with_worker.analyses.curve(*args)") }};
COMMENT ON FUNCTION kanon.curve IS 'Shows what each of several k would cost; called by kanon_curve.';

CREATE OR REPLACE FUNCTION kanon.groups({{ groups.inner_parameters }}) RETURNS SETOF kanon.value_class
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("with_worker.analyses.groups(*args)") }};
COMMENT ON FUNCTION kanon.groups IS 'Groups the values of a column without order; called by kanon_groups.';

CREATE OR REPLACE FUNCTION kanon.identify({{ identify.inner_parameters }}) RETURNS SETOF kanon.identifying_set
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("with_worker.analyses.identify(*args)") }};
COMMENT ON FUNCTION kanon.identify IS 'Finds few columns that tell rows apart as well as all do; called by kanon_identify.';

CREATE OR REPLACE FUNCTION kanon.intervals({{ intervals.inner_parameters }}) RETURNS SETOF kanon.value_class
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("with_worker.analyses.intervals(*args)") }};
COMMENT ON FUNCTION kanon.intervals IS 'Groups the values of an ordered column into intervals; called by kanon_intervals.';

CREATE OR REPLACE FUNCTION kanon.is_anonymous({{ is_anonymous.inner_parameters }}) RETURNS boolean
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("analyses.is_anonymous(*args)") }};
COMMENT ON FUNCTION kanon.is_anonymous IS 'Tests k-anonymity; called by kanon_is_anonymous.';

CREATE OR REPLACE FUNCTION kanon.measure({{ measure.inner_parameters }}) RETURNS kanon.measures
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("analyses.measure(*args)") }};
COMMENT ON FUNCTION kanon.measure IS 'Measures the anonymity of a table or view; called by kanon_measure.';

CREATE OR REPLACE FUNCTION kanon.rectangles({{ rectangles.inner_parameters }}) RETURNS SETOF kanon.point_class
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("with_worker.analyses.rectangles(*args)") }};
COMMENT ON FUNCTION kanon.rectangles IS 'Groups points into rectangles; called by kanon_rectangles.';

CREATE OR REPLACE FUNCTION kanon.regions({{ regions.inner_parameters }}) RETURNS SETOF kanon.value_class
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("with_worker.analyses.regions(*args)") }};
COMMENT ON FUNCTION kanon.regions IS 'Groups the values of a column into regions of neighbours; called by kanon_regions.';

CREATE OR REPLACE FUNCTION kanon.risk({{ risk.inner_parameters }}) RETURNS SETOF kanon.risk
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("with_worker.analyses.risk(*args)") }};
COMMENT ON FUNCTION kanon.risk IS 'Says how likely people are found again; called by kanon_risk.';

CREATE OR REPLACE FUNCTION kanon.suggest({{ suggest.inner_parameters }}) RETURNS SETOF kanon.suggestion
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("analyses.suggest(*args)") }};
COMMENT ON FUNCTION kanon.suggest IS 'Proposes roles of columns; called by kanon_suggest.';

-- Who may use them.
GRANT EXECUTE ON FUNCTION
    kanon.audit, kanon.groups, kanon.identify, kanon.intervals, kanon.is_anonymous, kanon.measure, kanon.rectangles,
    kanon.regions, kanon.risk, kanon.suggest
TO kanon_analyst;
GRANT EXECUTE ON FUNCTION kanon.curve TO kanon_curator;
