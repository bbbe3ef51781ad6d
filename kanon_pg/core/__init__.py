"""Pure data and arithmetic of k-anonymity: no database, no process, no clock."""
