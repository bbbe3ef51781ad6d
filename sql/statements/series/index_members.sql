-- One member per row: without this two rows with one hash could be taken for each other.
ALTER TABLE {{ members }} ADD PRIMARY KEY (row_id)
