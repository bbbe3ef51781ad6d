{# The end of the body of every function for users. PL/Python adds a traceback to each error as context,
   which only a defect of the package should show; this raises the error again with what is meant for people. #}
EXCEPTION
    WHEN external_routine_exception THEN
        RAISE;
    WHEN OTHERS OR query_canceled THEN
        DECLARE
            sentence text := pg_catalog.regexp_replace(SQLERRM, E'^(kanon|spiexceptions\\.\\w+): ', '');
            facts text;
            advice text;
        BEGIN
            GET STACKED DIAGNOSTICS facts = PG_EXCEPTION_DETAIL, advice = PG_EXCEPTION_HINT;
            IF facts = '' AND advice = '' THEN
                RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = sentence;
            ELSIF facts = '' THEN
                RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = sentence, HINT = advice;
            ELSIF advice = '' THEN
                RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = sentence, DETAIL = facts;
            ELSE
                RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = sentence, DETAIL = facts, HINT = advice;
            END IF;
        END;
