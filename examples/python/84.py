"""The twin of 84-fifty-million-roots: one by one, and in threads, which take turns.

Differs: Python's threads take turns, so the second way takes as long as the first, and each root
    takes longer than in C.

Run: 84-fifty-million-roots
Time: wall 1 to 120 s
Output:
    one by one: the sum is 2.357022639e+11, in <n> s
    cut into <n>: the sum is 2.357022639e+11, in <n> s
"""
import concurrent.futures
import math
import os
import sys
import time


def sum_roots(start, stop):
    return sum(map(math.sqrt, range(start, stop)))


def show_sum(how, count, threads):
    began = time.perf_counter()
    ends = [1 + count * i // threads for i in range(threads + 1)]
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        total = sum(pool.map(sum_roots, ends, ends[1:]))
    print(f"{how}: the sum is {total:.10g}, in {time.perf_counter() - began:.2f} s")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000_000
    threads = len(os.sched_getaffinity(0))
    show_sum("one by one", count, 1)
    show_sum(f"cut into {threads}", count, threads)


main()
