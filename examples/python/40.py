"""The twin of 40-race: two tasks that wait between the check and the booking."""
import asyncio

available_seats = 2


async def take_payment():
    await asyncio.sleep(1)


async def book(customer, seats):
    global available_seats
    if seats > available_seats:
        print(f"{customer}, there are not that many seats")
        return
    await take_payment()  # the check above may be out of date after this
    print(f"{seats} seats booked successfully for {customer}")
    available_seats -= seats


async def main():
    await asyncio.gather(book("Mohammad", 2), book("Ali", 2))
    print(f"Available seats: {available_seats}")


asyncio.run(main())
