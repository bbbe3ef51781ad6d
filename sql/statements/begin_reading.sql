-- Fails while the code of a relation could fetch from a cursor that is open.
SELECT kanon.begin_reading() AS known
