"""What was asked about a protected relation, and whether one more answer would single somebody out.

Pure: no database. Questions are given as sets of *units* (rows) and the *people* the rows belong to.
`ledger.Ledger` decides, `journal.Journal` makes the record durable and orders concurrent sessions,
`budget.standing` applies budgets. Journal, frames and budget import the standard library alone, entries,
answers and population pyroaring, the rest NumPy.
"""
