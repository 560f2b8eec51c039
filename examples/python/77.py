"""The twin of 77-scraper-queue: a queue between fetching and processing."""
import asyncio

FETCH_S = [0.5, 0.9, 0.2, 0.3, 1.2, 0.7, 0.4, 1.1, 0.6, 0.2,
           1.0, 0.8, 0.3, 1.2, 0.9, 0.5, 0.7, 1.1, 0.6, 0.8]
PROCESS_S = 0.4
END = None  # a queue of Python 3.11 cannot be shut down


async def fetch_pages(pages, report):
    for number, delay in enumerate(FETCH_S, 1):
        await asyncio.sleep(delay)
        await pages.put(number)
    report("all 20 pages are fetched")
    await pages.put(END)


async def process_pages(pages, report):
    while (number := await pages.get()) is not END:
        await asyncio.sleep(PROCESS_S)
        if number == 1:
            report("the first page is processed")


async def main():
    clock = asyncio.get_running_loop().time
    began = clock()

    def report(text):
        print(f"{clock() - began:.1f} s: {text}")

    pages = asyncio.Queue(maxsize=5)
    async with asyncio.TaskGroup() as group:
        group.create_task(fetch_pages(pages, report))
        group.create_task(process_pages(pages, report))
    report("all 20 pages are processed")
    in_turn = sum(FETCH_S) + PROCESS_S * len(FETCH_S)
    print(f"{100 * (clock() - began) / in_turn:.0f} % of the {in_turn:.1f} s in turn")


asyncio.run(main())
