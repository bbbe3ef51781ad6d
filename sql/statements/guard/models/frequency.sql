{# No value has more than one in so many of a class. #}
max(n) * {{ threshold }} <= size
