-- Whether days of the session begin and end at midnight UTC.
SELECT
    pg_catalog.current_setting('TimeZone') IN ('UTC', 'Etc/UTC', 'Etc/UCT', 'UCT', 'Zulu', 'Etc/Zulu', 'Universal', 'Etc/Universal',
        'GMT', 'Etc/GMT', 'Etc/GMT0', 'GMT0', 'Greenwich', 'Etc/Greenwich') AS in_utc
