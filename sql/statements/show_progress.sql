-- Shows a progress text to other sessions at once, in the open transaction; returns the text before.
-- $1 text
SELECT before, pg_catalog.set_config('application_name', $1::text, false) AS shown
FROM (SELECT pg_catalog.current_setting('application_name') AS before OFFSET 0) AS old
