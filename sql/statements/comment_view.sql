-- Says what a release is.
COMMENT ON VIEW {{ view }} IS {{ comment }}
