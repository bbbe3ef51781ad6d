"""Keeps what Jinja compiles templates to, which takes a session longer than all else of its first call.

Loading it runs code, as loading compiled solvers does: it is kept with them, in folders that are as trusted
as the package (`kanon_pg.core.code_folders`).
"""

from __future__ import annotations

import hashlib
from contextlib import suppress

import jinja2
from jinja2.bccache import Bucket

from kanon_pg.core.code_folders import code_in, folders, lasting_folder, put, version_of


class TemplateCache(jinja2.BytecodeCache):
    """Finds compiled templates in the store beside the package, else keeps them in this account's own folder.

    `made_by` is what the code depends on besides templates and Jinja: whatever sets up the environment.
    """

    def __init__(self, made_by: bytes) -> None:
        self.used = dict[str, None]()
        self._made_by = made_by + version_of("jinja2").encode()
        self._own = lasting_folder()
        self._folders = folders(self._own)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template if it is there; for Jinja."""
        for folder in self._folders:
            code = code_in(folder, self._name(bucket))
            if code is not None:
                with suppress(Exception):  # a file that is cut off is compiled and written anew
                    bucket.bytecode_from_string(code)
                    self.used[self._name(bucket)] = None
                return

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template; for Jinja."""
        if self._own is not None:
            with suppress(OSError):  # it is compiled again where it cannot be written
                put(self._own / self._name(bucket), bucket.bytecode_to_string())
                self.used[self._name(bucket)] = None

    def _name(self, bucket: Bucket) -> str:
        made_of = f"{bucket.key} {bucket.checksum}".encode() + self._made_by
        return f"template-{hashlib.sha256(made_of).hexdigest()[:24]}"
