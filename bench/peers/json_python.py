"""json_python.py FILE ROUNDS - documents read and written compactly by Python's json."""

import json
import struct
import sys
import time


def documents(path):
    with open(path, "rb") as file:
        data, at = file.read(), 0
    while at < len(data):
        (n,) = struct.unpack_from("<I", data, at)
        yield data[at + 4 : at + 4 + n]
        at += 4 + n


def main():
    texts, rounds, written = list(documents(sys.argv[1])), int(sys.argv[2]), 0
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(rounds):
        for text in texts:
            tree = json.loads(text)
            written += len(json.dumps(tree, separators=(",", ":"), ensure_ascii=False).encode())
    wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
    print(json.dumps({"peer": f"json of Python {sys.version.split()[0]}", "row": "json",
                      "ops": rounds * len(texts), "cpu_ns": cpu, "wall_ns": wall,
                      "bytes": rounds * sum(map(len, texts)), "written": written}))


if __name__ == "__main__":
    main()
