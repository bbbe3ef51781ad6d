{# As kanon_pg.db.failures.check_encoding does; the extension could be created, and its functions would fail. #}
    IF pg_catalog.getdatabaseencoding() IN ('SQL_ASCII', 'MULE_INTERNAL') THEN
        RAISE EXCEPTION USING
            ERRCODE = 'KA500',
            MESSAGE = pg_catalog.format(
                'kanon: In a database of encoding %s nobody can tell which characters texts have, so kanon does not work there.',
                pg_catalog.getdatabaseencoding()
            ),
            HINT = 'Make a database of encoding UTF8 and move the data there with pg_dump and pg_restore: CREATE DATABASE ... ENCODING ''UTF8'' LOCALE ''C.UTF-8'' TEMPLATE template0;';
    END IF;
