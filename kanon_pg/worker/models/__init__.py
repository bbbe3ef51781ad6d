"""Privacy models (p-sensitivity, l-diversity, t-closeness): what a class has to satisfy.

A new model starts in `evaluator`, which defines it, and in `kernels`, which evaluate it for many classes. How
solvers reach it is in `kanon_pg.worker.solvers.models`; SQL has its own
definitions (`kanon_pg.release.storage`).
"""
