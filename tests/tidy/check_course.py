"""The table of the courses' programs is what tools/course makes of the examples."""
import os
import sys


def check(tree):
    result = tree.run([sys.executable, os.path.join(tree.root, "tools", "course"), "--check"])
    for line in result.stderr.splitlines():
        tree.finding("docs/asyncio/course.md", 1, line.replace("course: ", "", 1))
