"""The twin of 42-held-lock: a lock that is released on every way out."""
import asyncio

lock = asyncio.Lock()
available_seats = 2


async def take_payment():
    await asyncio.sleep(1)


async def book(customer, seats):
    global available_seats
    async with lock:
        if seats > available_seats:
            print(f"{customer}, number of seats that you want is greater than available seats")
            return
        await take_payment()
        print(f"{seats} seats booked successfully for {customer}")
        available_seats -= seats


async def main():
    await asyncio.gather(book("Mohammad", 2), book("Ali", 2))
    print(f"Available seats: {available_seats}")


asyncio.run(main())
