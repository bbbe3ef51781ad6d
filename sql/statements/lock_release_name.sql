-- Waits for other calls that publish under this name; returns the number of this publication.
-- $1 text
INSERT INTO kanon.release_lock AS l (name, generation)
VALUES ($1::text, 1)
ON CONFLICT (name) DO UPDATE SET generation = l.generation + 1
RETURNING generation
