"""The twin of 82-async-iterator: an iterator written by hand, with a class."""
import asyncio

ROWS = 7
PAGE_ROWS = 3


class Rows:
    def __init__(self):
        self.page = self.row = self.in_page = 0

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.row == ROWS:
            raise StopAsyncIteration
        if self.in_page == 0:
            await self.fetch_page()
        self.in_page -= 1
        self.row += 1
        return self.row

    async def fetch_page(self):
        await asyncio.sleep(0.5)
        self.in_page = min(PAGE_ROWS, ROWS - self.row)
        self.page += 1
        print(f"page {self.page}")


async def main():
    async for row in Rows():
        print(f"row {row}")
    print("no more rows")


asyncio.run(main())
