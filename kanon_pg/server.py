"""Nothing: the functions of an installation by 0.1.0 import this module before they compare versions.

With it they refuse this package as one of another version (KA501) until ``kanon install`` has replaced them;
without it they would say that the package cannot be imported. `kanon_pg.plpython` has what they call now.
"""
