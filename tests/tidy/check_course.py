"""The pages of the courses' programs are what tools/course makes."""
import os
import sys


def check(tree):
    result = tree.run([sys.executable, os.path.join(tree.root, "tools", "course"), "--check"])
    for line in result.stderr.splitlines():
        tree.finding("docs/course/README.md", 1, line.replace("course: ", "", 1))
