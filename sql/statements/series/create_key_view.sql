-- Which columns identify the rows of a base relation: the view follows them when they are renamed, or restored elsewhere.
CREATE VIEW {{ view }} AS
SELECT {% for k in keys %}{{ k }}{% if not loop.last %}, {% endif %}{% endfor %} FROM {{ relation }}
