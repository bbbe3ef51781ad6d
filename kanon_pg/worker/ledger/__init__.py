"""The ledger: what was disclosed about a relation, and whether one more answer singles somebody out.

`relation_ledger.RelationLedger` is the whole ledger of one relation, `disclosure` decides, `journal` makes
records durable and orders concurrent sessions. Queries arrive as sets of *units* (rows) and the *people*
that these belong to: `sent_sets` says how, `state_sets` makes an answer's sets of them. Nothing here knows
SQL or a database; journal and rules import the standard library alone.
"""
