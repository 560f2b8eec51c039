"""The twin of 34-fibonacci: a generator keeps its variables from one value to the next."""


def fibonacci(limit):
    a, b = 1, 1
    while a < limit:
        yield a
        a, b = b, a + b


print(", ".join(str(number) for number in fibonacci(1000)), end=",\n")
