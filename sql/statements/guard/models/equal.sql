{# A class is no further from the whole table, all values being equally far from each other. #}
sum(greatest(0, n / total - share)) <= {{ threshold }}
