"""A browser for the tests of this folder."""

from tests.fixtures.browser import chromium, page

__all__ = ["chromium", "page"]
