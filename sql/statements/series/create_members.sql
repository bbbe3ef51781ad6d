-- The published rows of a release over time, with their cells as published: these never change.
CREATE TABLE {{ members }} AS
{% include "series/members_of.sql" %}
