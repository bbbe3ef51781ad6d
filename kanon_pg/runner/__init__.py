"""The backend's side of worker processes: start them, send jobs, wait, cancel.

`parent` is for services; `messages` and `limits` are shared with
`kanon_pg.worker`. No array library and no solver is imported here.
"""
