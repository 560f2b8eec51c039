"""The twin of 84-fifty-million-roots: one by one, in threads, which take turns, and in processes.

Differs: Python's threads take turns, so the second way takes as long as the first, and each root
    takes longer than in C.

Run: 84-fifty-million-roots
Time: wall 0.2 to 120 s
Output:
    one by one: the sum is 2.357022639e+11, in <n> s
    in <n> threads: the sum is 2.357022639e+11, in <n> s
    in <n> processes: the sum is 2.357022639e+11, in <n> s
"""
import concurrent.futures
import math
import os
import sys
import time


def sum_roots(start, stop):
    return sum(map(math.sqrt, range(start, stop)))


def show_sum(how, count, n, executor):
    began = time.perf_counter()
    ends = [1 + count * i // n for i in range(n + 1)]
    with executor(n) as pool:
        total = sum(pool.map(sum_roots, ends, ends[1:]))
    print(f"{how}: the sum is {total:.10g}, in {time.perf_counter() - began:.2f} s")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000_000
    n = len(os.sched_getaffinity(0))
    show_sum("one by one", count, 1, concurrent.futures.ThreadPoolExecutor)
    show_sum(f"in {n} threads", count, n, concurrent.futures.ThreadPoolExecutor)
    show_sum(f"in {n} processes", count, n, concurrent.futures.ProcessPoolExecutor)


if __name__ == "__main__":
    main()
