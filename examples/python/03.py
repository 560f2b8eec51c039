"""The twin of 03-await: waiting for a coroutine."""
import asyncio


async def fetch_data():
    print("Starting data request")
    await asyncio.sleep(2)
    print("Data received")
    return {"status": "ok"}


async def main():
    print(await fetch_data())


asyncio.run(main())
