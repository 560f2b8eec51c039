"""Traces: each corner case has both sides, each difference has its reason,
and docs/asyncio/traces.md is made of them.
"""
import importlib.machinery
import importlib.util
import os

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "traces", "page")


def load():
    loader = importlib.machinery.SourceFileLoader("traces_page", PAGE)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("traces_page", loader))
    loader.exec_module(module)
    return module


def check(tree):
    load().check(tree.root, tree.finding)
