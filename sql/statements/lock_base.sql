-- Keeps a base table or view, and all that the view is made of, as they are until the transaction ends.
LOCK TABLE {{ relation }} IN ACCESS SHARE MODE
