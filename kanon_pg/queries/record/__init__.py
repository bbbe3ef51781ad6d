"""The record of what was disclosed about the people of a space: a file that no ROLLBACK reaches.

`record` is an open one, `file` its file, `log` its chain of queries, `sets` what was disclosed (`sketches`);
`records` finds the files of a database and says what curators read in them.
"""
