"""Who of a batch should wait for the next version of a release over time.

Nobody knows whom a row would meet later, so the rows that may enter are looked at in several worlds: the
present, and futures that are drawn from earlier rows (`worlds`). Annealing (`choice`) makes changes that keep
every class of every world at k rows (`changes`), until as many wait as may.
"""
