"""What an administrator does to a server or a database: install, check, run one.

No function for users of releases or queries is here.
"""
