-- Records who waits.
INSERT INTO {{ pending }} (row_id, person, since, origin, returns)
SELECT row_id, person, since, origin, returns FROM {{ arrivals }}
