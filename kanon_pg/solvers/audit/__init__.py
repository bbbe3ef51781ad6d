"""Which columns single people out, which tell all rows apart, and how large the risk is.

Definitions, for a table as row types with the people behind them. A *class* of a set X of columns is a
maximal set of rows that agree on X; NULL is a value of its own. Its *size* is its number of different
people: values of the declared entity, else rows; a class in which nobody is known (entity NULL
throughout) counts as one person.

- X *violates* k if a class of X has fewer than k people (Yuan, "Finding Quasi-identifiers Against
  k-anonymity", Definition 3). The paper's Definition 2 lets S range over subsets of a projection, which as
  a set of tuples never holds a tuple twice; what is meant, and counted here, are the people who share it.
- A violating X is *minimal* if no proper subset violates (Definition 5, with the proper subsets that its
  text needs), and *minimum* if no violating set has fewer columns (Definition 4).
- X *identifies* if its projection has as many different rows as that of all columns: what Algorithm 5.1 and
  the proof of Proposition 2 in the same paper count. Duplicate rows can't be told apart by any set.

Every superset of a violating set violates and every superset of an identifying set identifies (Lemma 1),
because adding columns only divides classes. The empty set violates if the whole table has fewer than k
people.
"""
