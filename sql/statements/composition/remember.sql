-- The class of each row in a version of a release, as long as it is remembered.
CREATE TABLE {{ version }} AS
SELECT row_id, person, class
FROM (
{% include "composition/linked.sql" %}
) AS shown
