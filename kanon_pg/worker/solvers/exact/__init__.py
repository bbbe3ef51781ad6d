"""Integer programs of independent components: optima and how they are proven.

`optimum` is the way in, and `model_constraints` with the rows that the models add; `network` and
`sub_problem` make the programs. The library that solves them is imported in `integer_program` alone.
"""
