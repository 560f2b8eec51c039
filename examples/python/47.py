"""The twin of 47-pages: the items of a slow source that returns them page by page."""
import asyncio
import contextlib

FRUITS = ("apple", "banana", "cherry", "damson", "elderberry", "fig",
          "grape", "hazelnut", "ilama", "jujube", "kiwi", "lemon")
PAGE_ITEMS = 3


async def fetch_page(number):
    await asyncio.sleep(0.5)
    page = FRUITS[number * PAGE_ITEMS:(number + 1) * PAGE_ITEMS]
    if page:
        print(f"page {number + 1} fetched")
    return page


async def items():
    number = 0
    try:
        while page := await fetch_page(number):
            for item in page:
                yield item
            number += 1
    finally:
        print("cursor closed")


async def look_for_grape():
    async with asyncio.timeout(5), contextlib.aclosing(items()) as fruits:
        async for fruit in fruits:
            if fruit == "grape":
                print(f"{fruit}: that is the one")
                break
            print(fruit)


asyncio.run(look_for_grape())
