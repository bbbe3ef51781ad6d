"""The gateway: a process that speaks PostgreSQL's protocol and lets any client query protected tables.

It passes messages on, and puts calls of ``kanon_query_record`` in place of queries of protected tables.
It decides nothing about them, reads no data and keeps no values; the server checks every query again.
"""
