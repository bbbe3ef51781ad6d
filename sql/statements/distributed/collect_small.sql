-- The classes of fewer than k people among what was stored: the nodes count, the coordinator adds up by the classes'
-- numbers. Classes that share a number would be counted as one, which the recount of what is published notices.
CREATE TABLE {{ small }} AS
SELECT class
FROM (
{% if entity %}
    SELECT class, sum(somebody) AS people
    FROM (
        SELECT {% include "distributed/class_hash.sql" %} AS class, (s.kanon_person IS NOT NULL)::integer AS somebody
        FROM {{ storage }} AS s
        GROUP BY {% include "distributed/class_hash.sql" %}, s.kanon_place, s.kanon_person
    ) AS held
    GROUP BY class
{% else %}
    SELECT {% include "distributed/class_hash.sql" %} AS class, count(*) AS people
    FROM {{ storage }} AS s
    GROUP BY {% include "distributed/class_hash.sql" %}

{% endif %}
) AS counted
WHERE people < {{ k }}
