"""Solvers: row types in, patterns and proven bounds out; one folder or module for each idea.

`registry` is the way in and says which solver a method means. Methods are `heuristics` (greedy, and
`mondrian`), `pairs`, `row_assignment`, and `portfolio`, the order of ``auto`` and ``exact``; tables with
hierarchies have `recoding`. The other folders are stages of these. Stages share `compatibility`, the graph of
row types and the instances that they fit, `bounded_mask`, which patterns of wide tables are looked at, and
`sensitive_flow`, rows distributed among given classes. A solver states guarantee, running time and paper;
what it returns is recounted by `kanon_pg.worker.verification`.
"""
