"""Code of worker processes, which a backend starts and never imports: NumPy, compiled kernels, OR-Tools.

Solvers (`solvers`), privacy models (`models`), the independent recount (`verification`), what a solution
keeps (`measures`), certificates (`certifier`), audits (`audit`) and classes of one column (`grouping`) live
here; `main` is the process. Nothing here knows a database: packed buffers come in over a channel, and leave
over it (`kanon_pg.runner`).
"""
