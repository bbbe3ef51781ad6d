-- Forgets who waited before.
DELETE FROM {{ pending }}
