-- Relations; those that answer queries alone do not show how many rows they have.
SELECT kanon.mirror_catalog(
    'pg_class',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.oid
    $shown$,
    $masks${
        "reltuples": "CASE WHEN v.readable THEN c.reltuples ELSE -1 END",
        "relpages": "CASE WHEN v.readable THEN c.relpages ELSE 0 END",
        "relallvisible": "CASE WHEN v.readable THEN c.relallvisible ELSE 0 END",
        "relallfrozen": "CASE WHEN v.readable THEN c.relallfrozen ELSE 0 END",
        "relpartbound": "CASE WHEN v.readable THEN c.relpartbound ELSE NULL END"
    }$masks$
);
