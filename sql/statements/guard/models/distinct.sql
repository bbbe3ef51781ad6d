{# A class has so many different values. #}
count(*) >= {{ threshold }}
