"""The twin of 41-lock: a lock that is taken and released by hand."""
import asyncio

lock = asyncio.Lock()
available_seats = 2


async def take_payment():
    await asyncio.sleep(1)


async def book(customer, seats):
    global available_seats
    await lock.acquire()
    try:
        if seats > available_seats:
            print(f"{customer}, number of seats that you want is greater than available seats")
        else:
            await take_payment()
            print(f"{seats} seats booked successfully for {customer}")
            available_seats -= seats
    finally:
        lock.release()


async def main():
    await asyncio.gather(book("Mohammad", 2), book("Ali", 2))
    print(f"Available seats: {available_seats}")


asyncio.run(main())
