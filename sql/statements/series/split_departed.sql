-- Those who came back with other rows have another history from now on than those who stayed away.
-- $1 bigint
-- $2 bigint
UPDATE {{ departed }} AS d SET since = d.since || ARRAY[$2::bigint, $1::bigint]
WHERE d.person IN (SELECT p.person FROM {{ pending }} AS p WHERE p.origin = $1::bigint)
