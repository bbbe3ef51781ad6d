{# A class is no further from the whole table, values being as far from each other as their ranks. #}
(SELECT c.areas FROM {{ j.curve }} AS c)[min(place)] + sum(
            p * (2 * turn - place - last + 1)
            - 2 * (SELECT c.areas FROM {{ j.curve }} AS c)[turn + 1]
            + (SELECT c.areas FROM {{ j.curve }} AS c)[place]
            + (SELECT c.areas FROM {{ j.curve }} AS c)[last + 1]
        ) <= {{ threshold }} * greatest(1, (SELECT c.places FROM {{ j.curve }} AS c) - 1)
