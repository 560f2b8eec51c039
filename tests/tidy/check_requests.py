"""Requests: docs/http_requests.md is what tests/wire/requests.h says, and eddy does
with each what its rule demands.
"""
import importlib.machinery
import importlib.util
import os

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools",
                    "request-table")


def load():
    loader = importlib.machinery.SourceFileLoader("request_table", TOOL)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("request_table",
                                                                             loader))
    loader.exec_module(module)
    return module


def check(tree):
    load().check(tree.root, tree.finding)
