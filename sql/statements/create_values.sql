-- The table of one generalized column of a release: what is published of each value at each level below the top,
-- and what that costs. A copy of its own, so that the release does not change with the hierarchy. Values that rows had
-- are somebody's, and go with them (forget_values); others may come yet.
CREATE TABLE {{ table }} (
    value {{ type }} NOT NULL PRIMARY KEY,
    kanon_seen boolean NOT NULL DEFAULT false,
{% for node in nodes %}
    {{ node.name }} {{ published }} NOT NULL,
    {{ node.loss }} double precision NOT NULL{% if not loop.last %},{% endif %}

{% endfor %}
)
