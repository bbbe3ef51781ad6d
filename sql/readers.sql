-- The readers that an installation makes.
SELECT kanon.add_readers({{ readers }})
