-- Brings a release up to date; the view's own definition withholds classes below k.
REFRESH MATERIALIZED VIEW {{ storage }}
