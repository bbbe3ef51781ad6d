-- Which workers the current role can log in to from here.
SELECT w.nodename AS node, w.nodeport AS port, w.success
FROM pg_catalog.run_command_on_workers('SELECT 1') AS w
ORDER BY node, port
