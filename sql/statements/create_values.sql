-- The table of one generalized column of a release: what is published of each value at each level below the top,
-- and what that costs. A copy of its own, so that the release does not change with the hierarchy.
CREATE TABLE {{ table }} (
    value {{ type }} NOT NULL PRIMARY KEY,
{% for node in nodes %}
    {{ node.name }} {{ published }} NOT NULL,
    {{ node.loss }} double precision NOT NULL{% if not loop.last %},{% endif %}

{% endfor %}
)
