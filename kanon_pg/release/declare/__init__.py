"""What a table is to kanon_pg: the roles of its columns, and whose its rows are."""
