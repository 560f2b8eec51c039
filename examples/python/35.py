"""The twin of 35-endless: the first values of a generator that has no end."""
import contextlib
import itertools


def fibonacci():
    a, b = 1, 1
    try:
        while True:
            yield a
            a, b = b, a + b
    finally:
        print("the generator has cleaned up")


with contextlib.closing(fibonacci()) as numbers:
    print(next(numbers))
    for number in itertools.islice(numbers, 10):
        print(number, end=", ")
    print("...")
