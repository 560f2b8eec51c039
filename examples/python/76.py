"""The twin of 76-scraper-in-turn: first all pages fetched, then all processed."""
import asyncio

FETCH_S = [0.5, 0.9, 0.2, 0.3, 1.2, 0.7, 0.4, 1.1, 0.6, 0.2,
           1.0, 0.8, 0.3, 1.2, 0.9, 0.5, 0.7, 1.1, 0.6, 0.8]
PROCESS_S = 0.4


async def main():
    clock = asyncio.get_running_loop().time
    began = clock()
    pages = []
    for number, delay in enumerate(FETCH_S, 1):
        await asyncio.sleep(delay)
        pages.append(number)
    print(f"{clock() - began:.1f} s: all {len(pages)} pages are fetched")
    for number in pages:
        await asyncio.sleep(PROCESS_S)
        if number == 1:
            print(f"{clock() - began:.1f} s: the first page is processed")
    print(f"{clock() - began:.1f} s: all {len(pages)} pages are processed")


asyncio.run(main())
