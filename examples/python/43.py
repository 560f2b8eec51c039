"""The twin of 43-newest-wins: the newest question supersedes the one before it."""
import asyncio
import sys

import aiohttp

QUESTIONS = ("How do I wait?", "How do I wait for two tasks?", "How do I cancel a task?")


class Chat:
    def __init__(self, url):
        self.url, self.transports = url, set()

    def open_connections(self):
        return sum(not transport.is_closing() for transport in self.transports)

    async def ask(self, session, question):
        print(f"asked: {question}")
        async with session.post(self.url, data=question) as response:
            response.raise_for_status()
            if response.connection:  # None: the body was complete with the head
                self.transports.add(response.connection.transport)
            text = await response.read()
        print(f"answered with {len(text)} bytes: {question}")

    async def supersede(self, request, question):
        request.cancel()
        await asyncio.wait([request])
        if request.cancelled():
            print(f"superseded: {question} (connections open: {self.open_connections()})")
        else:
            request.result()  # a failure is raised

    async def talk(self, session):
        for question in QUESTIONS[:-1]:
            request = asyncio.create_task(self.ask(session, question))
            await asyncio.sleep(0.2)
            await self.supersede(request, question)
        await self.ask(session, QUESTIONS[-1])


async def main(url):
    opened = 0

    async def count(*_):
        nonlocal opened
        opened += 1

    trace = aiohttp.TraceConfig()
    trace.on_connection_create_end.append(count)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2),
                                     trace_configs=[trace]) as session:
        await Chat(url).talk(session)
    print(f"connections used: {opened}")


if len(sys.argv) != 2:
    sys.exit("usage: 43.py URL")
try:
    asyncio.run(main(sys.argv[1]))
except (aiohttp.ClientError, asyncio.TimeoutError) as error:
    sys.exit(f"{sys.argv[1]}: {error!r}")
