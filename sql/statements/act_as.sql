-- Takes the rights of a role until the end of the transaction.
SET LOCAL ROLE {{ role }}
