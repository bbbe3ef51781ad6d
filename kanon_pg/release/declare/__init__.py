"""What a table is to kanon_pg: the roles of its columns, and whose its rows are.

`declaration` records the roles; `linking` lets a foreign key say whose rows they are. Both renew the view of
row types.
"""
