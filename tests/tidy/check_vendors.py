"""Vendors: docs/vendors.md is what cmd/eddy/vendor/table.c says, and each row of that has a source.
"""
import importlib.machinery
import importlib.util
import os

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "vendor-table")


def load():
    loader = importlib.machinery.SourceFileLoader("vendor_table", TOOL)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("vendor_table",
                                                                             loader))
    loader.exec_module(module)
    return module


def check(tree):
    load().check(tree.root, tree.finding)
