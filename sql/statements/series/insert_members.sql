-- Adds the rows of a guarded storage as members of new cohorts.
INSERT INTO {{ members }} (
    row_id, person, fingerprint, cohort, left_in, erased, pattern{% for c in cells %}, {{ c.cell }}{% endfor %}

)
{% include "series/members_of.sql" %}
