"""Build the documentation as a site and say what is wrong with it: ``python -m tests.docs.site [FOLDER]``."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.docs.pages import ROOT, Page, pages

_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "link": "href"}
"""Elements that a browser loads something for."""

_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")


class _Reader(HTMLParser):
    """Notes anchors, links and what a page loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.policies: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if values.get(_LOADS.get(tag, "")):
            self.loads.append(values[_LOADS[tag]])
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policies.append(values["content"])


def _place(path: Path) -> Path:
    """Return where a file is on the site: pages of the top folder lie beside those of docs/."""
    return path.relative_to(ROOT / "docs" if path.is_relative_to(ROOT / "docs") else ROOT)


def _on_site(page: Page, link: re.Match[str]) -> str:
    """Return a link as the site has it: the text alone where the file is not on the site."""
    target, _, heading = link["target"].partition("#")
    path = (page.path.parent / target).resolve()
    if re.match(r"[a-z]+:", link["target"]) or not target:
        return link[0]
    if not path.is_relative_to(ROOT / "docs") and path not in {other.path for other in pages()}:
        return link["text"]
    place = os.path.relpath(_place(path), _place(page.path).parent)
    return f"[{link['text']}]({place}{'#' if heading else ''}{heading})"


def build(folder: Path) -> Path:
    """Build the site in a folder, whose content goes; return where it is. A broken link ends it."""
    shutil.rmtree(folder, ignore_errors=True)
    copied = folder / "pages"
    shutil.copytree(ROOT / "docs/site", folder)
    shutil.copytree(ROOT / "docs", copied, ignore=shutil.ignore_patterns("site", "__pycache__"))
    (folder / "site.css").rename(copied / "site.css")
    for page in pages():
        (copied / _place(page.path)).write_text(
            _LINK.sub(partial(_on_site, page), page.text), encoding="utf-8"
        )
    (copied / "README.md").unlink()  # index.md is in its place
    subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", folder / "zensical.toml"],
        cwd=folder,
        check=True,
    )
    return folder / "site"


def complaints(site: Path) -> Iterator[str]:
    """Yield what is wrong with a built site: links that lead nowhere, and what is loaded from elsewhere."""
    read = {path.resolve(): _Reader(path) for path in sorted(site.rglob("*.html"))}
    for path, page in read.items():
        name = path.relative_to(site.resolve())
        if len(page.policies) != 1 or re.search(r"https?:|\*", page.policies[0]):
            yield f"{name}: a browser may load it from elsewhere"
        for link in page.loads:
            if urlsplit(link).netloc:
                yield f"{name}: loads {link}"
        for link in (*page.links, *page.loads):
            where = urlsplit(link)
            if where.scheme or where.netloc or name.name == "404.html":
                continue
            target = (path.parent / unquote(where.path)).resolve() if where.path else path
            if not target.is_file():
                yield f"{name}: {link} leads nowhere"
            elif where.fragment and target in read and unquote(where.fragment) not in read[target].anchors:
                yield f"{name}: {link} has no such heading"
    for path in site.rglob("*.css"):
        for link in re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)", path.read_text()):
            yield f"{path.name}: loads {link}"


def main(arguments: list[str]) -> int:
    """Return the exit code: 1 if something is wrong with the site."""
    site = build(Path(arguments[0] if arguments else ROOT / "build/docs"))
    found = list(complaints(site))
    sys.stdout.write(
        "".join(f"{line}\n" for line in found)
        or f"Open {site / 'index.html'}\nFor the search: python3 -m http.server --directory {site}\n"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
