-- Creates what a release, or a view of row types, reads of a base relation: a view with the relation's columns, on which
-- everything else depends, and a function that returns the view's rows with the rights of the current role, a reader. What
-- the rows' code did to the session is taken back, and it cannot write. The rows are of the type of another view, which names
-- the first by its type alone: Citus distributes no table of which a view and a function that returns its rows depend on each other.
-- The planner would keep all rows of a volatile function another time in each common table expression that they pass through.
-- A name can have whatever ends a text between dollars: so the function's body is passed as a literal.
CREATE OR REPLACE FUNCTION kanon.define_base(name name, row_type name, statement text, rows bigint, shown boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    body CONSTANT text := format(
        $body$
DECLARE
    known CONSTANT text[] := kanon.begin_reading();
    is_read boolean := false;
BEGIN
    IF CURRENT_USER !~ '^kanon_base_[0-9]+$' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'KA500',
            MESSAGE = 'kanon: What reads a base relation belongs to no reader any more.',
            HINT = 'Publish anew with kanon_anonymize.';
    END IF;
    BEGIN
        %2$s
        -- nothing undoes it in a subtransaction; a clause of the function could not say so from PostgreSQL 16 on
        PERFORM set_config('transaction_read_only', 'on', true);
        RETURN QUERY SELECT * FROM kanon_bases.%1$I;
        is_read := true;
        RAISE EXCEPTION USING ERRCODE = 'KA000';
    EXCEPTION
        WHEN OTHERS OR QUERY_CANCELED OR ASSERT_FAILURE THEN
            PERFORM kanon.forget_statements(known);
            IF NOT is_read OR SQLSTATE <> 'KA000' THEN
                RAISE;
            END IF;
    END;
END
$body$,
        name,
        CASE WHEN shown THEN 'PERFORM set_config(''kanon.asking'', asking, true);' ELSE '' END
    );
BEGIN
    EXECUTE format('CREATE VIEW kanon_bases.%I AS %s', name, statement);
    EXECUTE (
        SELECT format(
            'CREATE VIEW kanon_bases.%I AS SELECT %s WHERE NULL::kanon_bases.%I IS NOT NULL', row_type,
            string_agg(
                format('NULL::%s', format_type(a.atttypid, a.atttypmod))
                || CASE WHEN a.attcollation <> 0 THEN format(' COLLATE %s', a.attcollation::regcollation) ELSE '' END
                || format(' AS %I', a.attname),
                ', ' ORDER BY a.attnum
            ),
            name
        )
        FROM pg_attribute AS a
        WHERE a.attrelid = format('kanon_bases.%I', name)::regclass AND a.attnum > 0
    );
    EXECUTE format(
        $create$
CREATE FUNCTION %5$I.%1$I(%3$s)
RETURNS SETOF kanon_bases.%6$I
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT
ROWS %2$s
SET search_path = pg_catalog, pg_temp
AS %4$L
        $create$,
        name, greatest(1, rows),
        -- for whom; only a view can say so, because nobody may use the schema, not even readers
        CASE WHEN shown THEN 'asking name' ELSE '' END,
        body,
        CASE WHEN shown THEN 'kanon_shown' ELSE 'kanon_bases' END,
        row_type
    );
    IF NOT shown THEN
        EXECUTE format('REVOKE ALL ON ROUTINE kanon_bases.%I FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON ROUTINE kanon_bases.%I TO kanon_owner', name);
    END IF;
END
$function$;
COMMENT ON FUNCTION kanon.define_base IS 'Creates what reads a base relation; called with the rights of its reader.';
