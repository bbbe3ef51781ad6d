SELECT {% for c in stored %}s.{{ c.output }}, {% endfor %}s.kanon_pattern FROM {{ storage }} AS s ORDER BY s.kanon_chance
