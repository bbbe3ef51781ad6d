"""The gateway: a process that speaks PostgreSQL's protocol and lets any client query protected tables.

Each client has a session of its own with the server, under its own login, and what it sends passes as it is.
Only a statement that may name a protected relation is treated otherwise::

    question        which statement is one: its tokens, the names of protected relations
    awaited         which of the server's messages answer the client, and which the gateway itself
    blocks          kanon.answer_blocks in the client's session: the rows of the blocks, and the rest
    session         both directions; the rest takes the place of the statement, as Parse and Bind

The server decides everything; the gateway has no rights of its own on tables, and keeps no values.
"""
