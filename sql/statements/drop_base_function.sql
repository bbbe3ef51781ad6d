-- Removes the function that read a base relation, or showed its rows.
DROP ROUTINE IF EXISTS {{ base }}(), {{ shown }}(name)
