-- Checks the installation inside the server.
SELECT c.item, c.ok, c.detail, c.hint FROM {{ function }}() AS c
