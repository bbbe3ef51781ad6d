-- Gives the rights of the session back.
RESET ROLE
