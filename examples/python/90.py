"""The twin of 90-process-results: apply_async(), then get(), in the order of the calls.

Differs: the pool of multiprocessing would wait for ever for the part whose worker dies, and that
    of concurrent.futures breaks, so the part is computed in a pool of its own.

Run: 90-process-results
Time: wall 0.2 to 120 s
Output:
    the roots of 1 to 12500000: 29462784317.00
    the roots of 12500001 to 25000000: 53870551516.12
    the roots of 25000001 to 37500000: the pool is broken
    the roots of 37500001 to 50000000: 82609151945.24
    again: 69759776152.48
"""
import concurrent.futures
import math
import multiprocessing
import os
import signal

PARTS, COUNT, BAD = 4, 50_000_000, 2


def do_math(part, crashes):
    if crashes:
        os.kill(os.getpid(), signal.SIGKILL)
    return sum(map(math.sqrt, range(COUNT // PARTS * part + 1, COUNT // PARTS * (part + 1) + 1)))


def result_of(tasks, part):
    if part != BAD:
        return f"{tasks[part].get():.2f}"
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(do_math, part, True).result()
        except concurrent.futures.process.BrokenProcessPool:
            return "the pool is broken"


def main():
    with multiprocessing.Pool() as pool:
        tasks = {part: pool.apply_async(do_math, args=(part, False)) for part in range(PARTS)}
        for part in range(PARTS):
            print(f"the roots of {COUNT // PARTS * part + 1} to {COUNT // PARTS * (part + 1)}: "
                  f"{result_of(tasks, part)}")
        print(f"again: {tasks[BAD].get():.2f}")


if __name__ == "__main__":
    main()
