-- A version that readers saw must not be lost in a crash: its commit waits for the disk.
SELECT
    CASE
        WHEN pg_catalog.current_setting('synchronous_commit') = 'off'
            THEN pg_catalog.set_config('synchronous_commit', 'on', true)
        ELSE ''
    END AS changed
