-- One pattern per row type: without this a row could be counted twice.
ALTER TABLE {{ mapping }} ADD PRIMARY KEY (row_type)
