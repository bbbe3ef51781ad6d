-- Rules and views; their text is for readers.
SELECT kanon.mirror_catalog(
    'pg_rewrite',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.ev_class
    $shown$,
    $masks${
        "ev_qual": "CASE WHEN v.readable THEN c.ev_qual ELSE NULL END",
        "ev_action": "CASE WHEN v.readable THEN c.ev_action ELSE NULL END"
    }$masks$
);
