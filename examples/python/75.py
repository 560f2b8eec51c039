"""The twin of 75-order-mail: the mail of an order is sent by a background task.

asyncio.run() cancels the tasks that are left, and keeps no reference to them, so the
program keeps a set of them and waits for it at the end.
"""
import asyncio
import time

mails = set()


def show(text):
    print(f"{time.monotonic() - began:.0f} s: {text}")


async def send_mail(order):
    await asyncio.sleep(2)
    show(f"the mail for order {order} is sent")


async def place_order(order):
    show(f"order {order} is paid")
    await asyncio.sleep(1)  # the stock is updated
    show(f"order {order} is confirmed")
    mail = asyncio.create_task(send_mail(order))
    mails.add(mail)
    mail.add_done_callback(mails.discard)


async def main():
    for order in 1, 2:
        await place_order(order)
    show("the shop closes")
    await asyncio.gather(*mails)


began = time.monotonic()
asyncio.run(main())
