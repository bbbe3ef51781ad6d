-- Holds a hierarchy that was built for one release until its values have their types.
CREATE TABLE {{ table }} (value text NOT NULL, nodes text[] NOT NULL)
