-- How many rows of a base relation a refresh left out, counted when the refresh is over.
SELECT
    greatest((SELECT count(*) FROM {{ base }}) - (SELECT count(*) FROM {{ storage }}), 0) AS withheld
