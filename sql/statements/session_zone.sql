-- Whether days of the session begin and end at midnight UTC, and whether its time zone is one of the server's names or a
-- fixed offset: a text such as AAA-9BBB99,J100,J200 says when clocks are set, and by how much.
SELECT
    z.name IN ('UTC', 'Etc/UTC', 'Etc/UCT', 'UCT', 'Zulu', 'Etc/Zulu', 'Universal', 'Etc/Universal',
        'GMT', 'Etc/GMT', 'Etc/GMT0', 'GMT0', 'Greenwich', 'Etc/Greenwich') AS in_utc,
    -- rules of its own have a second name behind the first offset
    z.name !~* '^((posix|right)/)?(EST5EDT|CST6CDT|MST7MDT|PST8PDT)$'
    AND pg_catalog.regexp_replace(z.name, '^<[^>]*>', '') !~ '^[^0-9]*[0-9:+-]*$' AS has_own_rules
FROM pg_catalog.current_setting('TimeZone') AS z (name)
