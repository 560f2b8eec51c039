"""The twin of 114-crawler: the pages of a host, and a later run continues the crawl."""
import asyncio
import os
import re
import sys
import urllib.robotparser
from urllib.parse import urldefrag, urljoin

import aiohttp

AT_ONCE = 4
ROBOTS = "User-agent: *\nDisallow: /x\n"
PAGE = "<a href=/x> <a href='a/'> <a href=\"b#c\"> <a href=//b.a>"
LINK = re.compile(r"""href=(?:"([^"]*)|'?([^'> \t\r\n]*))""")


async def own_site(url, **_):
    return 200, ROBOTS if url.endswith("/robots.txt") else PAGE


def client_of(session):
    async def fetch(url, **options):
        async with session.get(url, **options) as response:
            return response.status, await response.text(errors="replace")
    return fetch


class Crawl:
    def __init__(self, fetch, url, state):
        self.fetch, self.url, self.state = fetch, url, state
        self.site, self.robots = urljoin(url, "/"), urllib.robotparser.RobotFileParser()
        self.urls = {}  # whether each is done
        if os.path.exists(state):
            with open(state, encoding="utf-8") as file:
                self.urls = {line[2:].strip(): line[0] == "-" for line in file}

    async def read_robots(self):
        status, text = await self.fetch(self.site + "robots.txt")
        if status >= 500:
            raise aiohttp.ClientError(f"robots.txt: status {status}")
        self.robots.parse(text.splitlines() if status < 400 else [])

    def add_links(self, page, html):
        for link in LINK.finditer(html):
            url = urldefrag(urljoin(page, link[1] or link[2] or "")).url
            if url.startswith(self.site) and self.robots.can_fetch("eddy", url):
                self.urls.setdefault(url, False)

    async def visit(self, url):
        try:
            status, text = await self.fetch(url, allow_redirects=False)
        except (aiohttp.ClientError, asyncio.TimeoutError) as error:
            return repr(error), ""
        return "no error" if status < 300 else "the status of the response is an error", text

    async def run(self, pages):
        await self.read_robots()
        self.add_links(self.url, "href=/ href=''")
        while pages > 0:
            urls = [url for url, is_done in self.urls.items() if not is_done][:min(AT_ONCE, pages)]
            if not urls:
                break
            for url, (text, html) in zip(urls, await asyncio.gather(*map(self.visit, urls))):
                print(f"{url}: {text}")
                self.urls[url] = True
                self.add_links(url, html)
            self.save()
            pages -= len(urls)

    def save(self):
        with open(self.state + ".new", "w", encoding="utf-8") as file:
            for url, is_done in self.urls.items():
                print("-" if is_done else "+", url, file=file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.state + ".new", self.state)


async def main(state, pages, url=None):
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10)) as session:
        fetch = client_of(session) if url else own_site
        await Crawl(fetch, url or "http://a.test/", state).run(int(pages))


if len(sys.argv) not in (3, 4):
    sys.exit("usage: 114.py STATE PAGES [URL]")
try:
    asyncio.run(main(*sys.argv[1:]))
except (aiohttp.ClientError, OSError) as error:
    sys.exit(f"114.py: {error!r}")
except KeyboardInterrupt:
    sys.exit("114.py: stopped by Ctrl-C")
