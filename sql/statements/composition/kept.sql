{# The classes of a version that was remembered. #}
    SELECT row_id, person, class FROM {{ version }}
