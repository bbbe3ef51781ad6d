-- The readers that an installation makes, and what earlier versions left that reads with other roles' rights.
SELECT kanon.add_readers({{ readers }});

DROP FUNCTION IF EXISTS kanon.small_classes(regclass, name[], name, integer)
