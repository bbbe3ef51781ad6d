-- Makes the Python package importable in this session and refuses one of another version. Owned by the
-- superuser who installs it, because whoever can change its settings runs code as the server's user; the
-- path stands in the function's own SET clause, where no session can change it.
CREATE OR REPLACE FUNCTION kanon.boot() RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET kanon.python_path = {{ python_path }} SET kanon.version = {{ version }}
AS $function$
import json, sys
setting = plpy.execute("select current_setting('kanon.python_path') as path, current_setting('kanon.version') as version")[0]
if "kanon" not in GD:
    folders = json.loads(setting["path"])
    sys.path[:] = folders + [folder for folder in sys.path if folder not in folders]

def refuse(error):
    plpy.error("The server cannot import the Python package kanon_pg.", sqlstate="KA500",
               detail=f"{error}; Python path: {setting['path']}.",
               hint="Make the folders readable to the server's user, or run `kanon install` again.")

try:
    import kanon_pg
    import kanon_pg.plpython
except ImportError as error:
    refuse(error)
if kanon_pg.__version__ != setting["version"]:
    plpy.error("The SQL objects and the Python package kanon_pg are of different versions.", sqlstate="KA501",
               detail=f"SQL: {setting['version']}, Python: {kanon_pg.__version__}.",
               hint="Run `kanon install` with the package that the server uses, then reconnect.")
if "kanon" not in GD:
    # Modules are imported at the first call of a function; statements between them notice a cancel.
    kanon_pg.plpython.prepare(lambda: plpy.execute("select"), refuse)
GD["kanon"] = True
$function$;
COMMENT ON FUNCTION kanon.boot IS 'Puts the folders of the Python package first on this session''s path and checks the package''s version.';
GRANT EXECUTE ON FUNCTION kanon.boot TO kanon_owner, kanon_curator, kanon_analyst;
