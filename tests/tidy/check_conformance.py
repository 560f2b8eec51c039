"""Conformance: each number of tests/conformance.txt has a test that names it, or
says why not, and docs/asyncio/conformance.md is made of both.
"""
import importlib.machinery
import importlib.util
import os

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "conformance")


def load():
    loader = importlib.machinery.SourceFileLoader("conformance", TOOL)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("conformance", loader))
    loader.exec_module(module)
    return module


def check(tree):
    load().check(tree.root, tree.finding)
