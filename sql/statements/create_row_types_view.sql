-- The view that counts a relation's row types, for whoever may read the relation at that moment.
CREATE VIEW {{ view }} AS
SELECT * FROM {{ source }}
