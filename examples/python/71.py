"""The twin of 71-recursive-lock: only its owner may take an RLock again, and others wait."""
import threading
import time

plain, recursive = threading.Lock(), threading.RLock()


def ali():
    with recursive:
        print("recursive lock: taken by Ali")


def book_one():
    with recursive:
        print("recursive lock: taken again by the group")
        time.sleep(1)


def book_group():
    with recursive:
        print("recursive lock: taken by the group")
        other.start()
        book_one()
        print("released once")
        time.sleep(1)  # Ali would take the lock here if it were free
        print("released twice")


with plain:
    if not plain.acquire(blocking=False):  # a plain acquire() would wait for ever
        print("plain lock: its owner cannot take it again")
other = threading.Thread(target=ali)
book_group()
other.join()
