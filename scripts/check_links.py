#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""check_links.py SITE: checks that the target of every internal link exists."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Collects the anchors and the links of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors = set()
        self.links = []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append((value, self.getpos()[0]))


def main():
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: scripts/check_links.py SITE, a folder of HTML pages")
    site = Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in site.rglob("*.html")}
    broken = checked = 0
    for path, page in pages.items():
        for link, line in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            checked += 1
            target = path
            if parts.path:
                target = (path.parent / unquote(parts.path)).resolve()
            anchor = unquote(parts.fragment)
            is_known = target not in pages or anchor in pages[target].anchors
            if not target.exists() or (anchor and not is_known):
                broken += 1
                print(f"{path.relative_to(site)}:{line}: broken link {link}")
    print(f"{checked} links in {len(pages)} pages, {broken} broken")
    return broken > 0


if __name__ == "__main__":
    sys.exit(main())
