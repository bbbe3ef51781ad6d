-- Removes the rows of small classes from what was stored, each node its own.
DELETE FROM {{ storage }} AS s USING {{ small }} AS small WHERE small.class = {% include "distributed/class_hash.sql" %}
