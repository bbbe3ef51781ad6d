-- Classes of a release as readers tell them apart: by the published cells and by which of them are
-- suppressed, not by levels, which nobody sees. Rows are grouped once by what is stored, then these groups by what is
-- seen of them.
{% include "recount/seen_classes.sql" %}
