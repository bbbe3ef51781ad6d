"""Privacy models: what a class has to satisfy besides k.

l-diversity is `frequency` or `entropy`, p-sensitivity and distinct l-diversity are `distinct_values`,
t-closeness is `closeness`. A new model is a file that defines a `PrivacyModel` (`privacy_model.py`) and a
line in `MODELS` of `evaluator.py`; greedy, local and exact search then keep it. Bounds by prices ignore it,
and stay valid, until `kanon_pg.worker.verification.class_demands` knows what it demands. Requests, SQL and
the independent recount have definitions of their own (see docs/architecture.md), which share nothing with
these.
"""
