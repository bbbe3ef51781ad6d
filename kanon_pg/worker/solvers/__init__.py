"""Solvers: row types in, patterns and proven bounds out; one folder for each idea.

`registry` is the way in and says which solver a method means, `portfolio` is the order of ``auto``. A
solver states guarantee, running time and paper; what it returns is recounted by
`kanon_pg.worker.verification`.
"""
