#!/usr/bin/env python3
"""Tables of fields (eddy/fields.h, fields_judge_tables.h) beside the validator of PyPI's jsonschema, which judges by
the schemas that eddy/schema.h writes.

    test_fields_judge.py FIELDS_JUDGE

fields_judge.txt has the documents, with all errors of each bad one.  The validator gives the same verdict and
finds errors in the same places, for these documents and for mutants of them.  Where it differs, the reason is
one of REASONS; an unknown difference fails, and so does a reason without a difference.

Mutants: 20,000 by a seed, 400,000 with EDDY_TEST_FULL=1.
"""
import collections
import copy
import datetime
import json
import math
import os
import random
import re
import subprocess
import sys

import e2e
from e2e import check, claim, equal

try:
    import jsonschema
except ImportError:
    jsonschema = None

MUTANTS = 400000 if os.environ.get("EDDY_TEST_FULL") == "1" else 20000
DOCUMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fields_judge.txt")

REASONS = {
    "integer": "1.0 and 1e2 are integers of JSON Schema, and not of eddy",
    "bytes": "lengths are characters in JSON Schema, and bytes in a table",
    "text": "\\u0000 and half of a surrogate pair are strings of JSON Schema, and not of C",
    "twice": "a name that is given twice is one name for Python's reader",
    "double": "1e309 has no limit in JSON Schema, and is infinite in C",
    "read-only": "a schema knows no requests, in which a read-only field is ignored",
    "raw": "the length of a raw value is not in the schema",
    "email": "jsonschema looks for an @-sign only",
    "own": "a program's own format is only a name in the schema",
}
# The same verdict with other places.
MUTANT_REASONS = {
    "unique": "eddy compares items if each of them is right",
}


# ---- eddy ----------------------------------------------------------------------------------------

def ask(questions):
    """The answers of the C functions, decoded from JSON."""
    lines = "".join(f"{word} {table.replace(' ', '-')} {text.hex()}\n" for word, table, text in questions)
    run = subprocess.run([os.path.abspath(sys.argv[1])], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    answers = [json.loads(line) for line in run.stdout.decode().split("\n")[:-1]]
    equal(len(answers), len(questions))
    return answers


def read(documents):
    """The answers for (table, document)."""
    return ask([("read", table, document) for table, document in documents])


# ---- documents -----------------------------------------------------------------------------------

class Document:
    def __init__(self, table, good, text, line):
        self.table, self.good, self.text, self.line = table, good, text.encode(), line
        self.differs = None
        self.errors = []

    def __repr__(self):
        return f"fields_judge.txt:{self.line}: {self.text.decode()}"


def documents():
    """The documents of the file."""
    found, table = [], None
    with open(DOCUMENTS, encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "=":
                table = rest
            elif word in ("good", "bad"):
                found.append(Document(table, word == "good", rest, number))
            elif rest.startswith(" differs "):
                found[-1].differs = rest.split()[1]
            elif rest:
                name, _, text = rest.strip().partition(" | ")
                name, _, path = name.partition(" ")
                found[-1].errors.append({"error": "EDDY_E_" + name, "path": path, "text": text})
    return found


# ---- the validator -------------------------------------------------------------------------------

def refuse_constant(word):
    raise ValueError(word)


def loads(text):
    return json.loads(text.decode("utf-8"), parse_constant=refuse_constant)


def is_date(text):
    """RFC 3339, 5.6; jsonschema 4.10 accepts 20260131 too."""
    if not isinstance(text, str):
        return True
    return bool(re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text)) and bool(datetime.date.fromisoformat(text))


def is_date_time(text):
    """RFC 3339, 5.6; jsonschema needs another package for this format."""
    if not isinstance(text, str):
        return True
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-](\d\d):(\d\d))", text, re.ASCII)
    if not match or not is_date(match[1]):
        return False
    hour, minute, second = (int(match[i]) for i in (2, 3, 4))
    return hour < 24 and minute < 60 and second <= 60 and int(match[7] or 0) < 24 and int(match[8] or 0) < 60


def is_uri(text):
    """RFC 3986, appendix A; jsonschema needs another package for this format."""
    if not isinstance(text, str):
        return True
    char = r"(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
    host = r"(?:\[[0-9A-Fa-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)"
    authority = rf"//(?:(?:[\w.~!$&'()*+,;=:-]|%[0-9A-Fa-f]{{2}})*@)?{host}(?::\d*)?(?:/{char}*)*"
    path = rf"(?:/(?:{char}+(?:/{char}*)*)?|{char}+(?:/{char}*)*|)"
    return bool(re.fullmatch(rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{authority}|{path})(?:\?(?:{char}|[/?])*)?"
                             rf"(?:#(?:{char}|[/?])*)?", text, re.ASCII))


def format_checker():
    formats = jsonschema.FormatChecker(formats=["email", "ipv4", "ipv6", "uuid"])
    formats.checkers = dict(formats.checkers, **{
        "date": (is_date, ValueError), "date-time": (is_date_time, ValueError), "uri": (is_uri, ())})
    return formats


def validators():
    """The validator of each table, by its name."""
    if not jsonschema:
        raise e2e.Skip("needs the Debian package python3-jsonschema")
    names = sorted({document.table for document in documents()})
    made = {}
    for name, schema in zip(names, ask([("schema", name, b"") for name in names])):
        jsonschema.Draft202012Validator.check_schema(schema)
        made[name] = jsonschema.Draft202012Validator(schema, format_checker=format_checker())
    return made


def chosen(error):
    """The errors inside of an error: those of the struct for a struct or null; of a union, those of the
    struct that the tag chooses.  None: the error itself."""
    if error.validator == "anyOf" and "$ref" in error.validator_value[0]:
        # The second is null.
        return [one for one in error.context if one.schema_path[0] == 0]
    if error.validator == "oneOf":
        tag = error.schema["discriminator"]["propertyName"]
        names = list(error.schema["discriminator"]["mapping"])
        value = error.instance.get(tag) if isinstance(error.instance, dict) else None
        if value in names:
            return [one for one in error.context if one.schema_path[0] == names.index(value)]
    return None


def places(error):
    """The paths of an error of the validator, as eddy has them."""
    inside = chosen(error)
    if inside is not None:
        return {place for one in inside for place in places(one)}
    path = tuple(error.absolute_path)
    if error.validator == "required":
        return {(*path, name) for name in error.validator_value if name not in error.instance}
    if error.validator == "additionalProperties":
        return {(*path, name) for name in error.instance if name not in error.schema["properties"]}
    if error.validator == "oneOf" and isinstance(error.instance, dict):
        return {(*path, error.schema["discriminator"]["propertyName"])}
    if "propertyNames" in error.absolute_schema_path:
        return {(*path, error.instance)}
    return {path}


def refused(validator, document):
    """The paths that the validator refuses, or None if the document is not JSON."""
    try:
        value = loads(document)
    except (ValueError, RecursionError):
        return None
    return {place for error in validator.iter_errors(value) for place in places(error)}


# ---- cases ---------------------------------------------------------------------------------------

@claim
def each_document_has_its_errors(_):
    known = documents()
    check(sum(one.good for one in known) >= 100 and sum(not one.good for one in known) >= 100)
    for document, answer in zip(known, read([(one.table, one.text) for one in known])):
        equal([{"error": one["error"], "path": one["path"], "text": one["text"]} for one in answer["errors"]],
              document.errors, document)
        equal(not answer["errors"], document.good, document)


@claim
def each_allocation_for_a_document_may_fail(_):
    known = [(one.table, one.text) for one in documents()]
    equal(ask([("starve", *one) for one in known]), read(known))


@claim
def the_validator_judges_the_documents_equally(_):
    judges = validators()
    known = documents()
    reasons = set()
    for document in known:
        places_there = refused(judges[document.table], document.text)
        differs = places_there is not None and document.good == bool(places_there)
        equal(differs, bool(document.differs), document, places_there)
        if document.differs:
            check(document.differs in REASONS, document)
            reasons.add(document.differs)
    equal(reasons, set(REASONS))


@claim
def a_written_struct_is_valid(_):
    judges = validators()
    known = [one for one in documents() if one.good]
    for document, answer in zip(known, read([(one.table, one.text) for one in known])):
        if document.differs != "read-only":
            equal(refused(judges[document.table], answer["written"].encode()), set(), document, answer["written"])


# ---- mutants -------------------------------------------------------------------------------------
VALUES = [None, True, False, 0, 1, -1, 2, 5, 6, 10, 11, 127, 128, 150, 151, 255, 256, -128, -129, 65536, 2 ** 31, 2 ** 32,
          2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1, 2 ** 64, -2 ** 63, -2 ** 63 - 1, 10 ** 30, 0.5, 0.51, 1.5, 2.0, -0.0, 1e39,
          "", "a", "ab", "EUR", "12345", "a" * 7, "a" * 8, "a" * 16, "a" * 21, "é", "éééé", "\U0001f600", "nul\0", "\ud800",
          "red", "circle", "free text", "a@b", "@", "::1", "1.2.3.4", "2026-01-31", "2026-01-31T08:30:00Z", "https://a/b",
          "123e4567-e89b-12d3-a456-426614174000", [], [1], [1, 1], ["a", "a"], {}, {"a": 1}, {"city": "A"},
          {"type": "circle", "radius": 1}, {"type": "free text", "words": "w"}, [None], [{}], [[]]]
NAMES = ["id", "name", "city", "zip", "sku", "count", "type", "radius", "words", "extra", "a", "EUR", "home", "any"]


def nodes(value):
    """(container, key) of each value inside."""
    found = []
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    for key in keys:
        found.append((value, key))
        found += nodes(value[key])
    return found


def nudged(chance, value):
    """A value near to another."""
    if isinstance(value, bool) or value is None:
        return chance.choice([True, False, None])
    if isinstance(value, int):
        return value + chance.choice([-1, 1, 100, -100, 0.5])
    if isinstance(value, float):
        return value * chance.choice([-1, 0.5, 2, 1e10])
    if isinstance(value, str):
        at = chance.randrange(len(value) + 1)
        return value[:at] + chance.choice(["", "x", "9", "-", ".", " ", "é", "@", ":"]) + value[at + chance.randrange(2):]
    if isinstance(value, list):
        return value + value[:1] if chance.random() < 0.6 else value * 2
    return dict(value, **{chance.choice(NAMES): chance.choice(VALUES)})


def changed(chance, value):
    """A copy of a document with one change."""
    value = copy.deepcopy(value)
    places_here = nodes(value)
    if not places_here:
        return nudged(chance, value)
    container, key = chance.choice(places_here)
    word = chance.random()
    if word < 0.15:
        del container[key]
    elif word < 0.55:
        container[key] = copy.deepcopy(chance.choice(VALUES))
    else:
        container[key] = nudged(chance, container[key])
    return value


def spoiled(chance, text):
    """The bytes of a text with one removed, or one put in."""
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice([b"", b'"', b",", b"}", b"]", b"0", b"e", b".", b"\\", b"\xff", b"-"]) + \
        text[at + chance.randrange(2):]


def mutants():
    """(table, document) of each mutant."""
    chance = random.Random(37)
    known = []
    for document in documents():
        try:
            known.append((document.table, loads(document.text), document.text))
        except ValueError:
            pass
    for _ in range(MUTANTS):
        table, value, text = chance.choice(known)
        for _ in range(chance.choice([1, 1, 2, 4])):
            value = changed(chance, value)
        if chance.random() < 0.1:
            yield table, spoiled(chance, text)
            continue
        text = json.dumps(value, ensure_ascii=chance.random() < 0.5).replace("Infinity", "1e999")
        yield table, text.encode("utf-8", "surrogatepass")


def has_twice(document):
    """An object has a name twice."""
    found = []

    def pairs(members):
        found.append(len(dict(members)) < len(members))
        return dict(members)
    json.loads(document.decode(), object_pairs_hook=pairs)
    return any(found)


def value_at(value, path):
    """The value at a path of eddy, or None."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def is_inside(path, other):
    return len(path) > len(other) and path[:len(other)] == other


def is_whole(value):
    return isinstance(value, float) and (math.isinf(value) or value == int(value))


def reason_of(table, value, path, errors):
    """Why only one of both refuses the path; 'errors' are those of eddy by their paths."""
    value = value_at(value, path)
    error = errors.get(path)
    if error is None:
        if isinstance(value, list) and any(is_inside(place, path) for place in errors):
            return "unique"
        if isinstance(value, str) and not value.isascii():
            return "bytes"
        return "read-only" if table.endswith("request") and path == ("id",) else None
    kind = error.removeprefix("EDDY_E_FIELD_")
    if kind == "FORMAT":
        return "own" if path == ("slug",) else "email"
    if kind == "LENGTH":
        return "raw" if path == ("meta",) else "bytes" if isinstance(value, str) and not value.isascii() else None
    if kind == "TYPE":
        return "integer" if is_whole(value) else None
    if kind == "RANGE":
        return "double" if isinstance(value, (int, float)) and abs(value) > 1.7e308 else None
    return {"TEXT": "text", "DUPLICATE": "twice"}.get(kind)




def compare(table, document, there, answer, count):
    """Counts the reasons of the differences.  Returns those without a reason."""
    errors = {}
    for one in answer["errors"]:
        path = tuple(one["steps"])
        errors.setdefault(path[:-1] if one["error"] == "EDDY_E_FIELD_UNIQUE" else path, one["error"])
    if there is None or any(one["error"].startswith("EDDY_E_JSON") for one in answer["errors"]):
        return [] if there is None and answer["errors"] else [()]
    long = [path for path, error in errors.items() if error == "EDDY_E_FIELD_LENGTH"]
    value = loads(document)
    strange = []
    for path in set(errors) ^ there:
        # A list that is too long is read up to its maximum.
        if any(is_inside(path, other) for other in long):
            continue
        reason = "twice" if has_twice(document) else reason_of(table, value, path, errors)
        count[reason] += 1
        if not reason:
            strange.append(path)
    return strange


@claim
def the_validator_finds_the_same_errors_in_mutants(_):
    judges = validators()
    count = collections.Counter()
    questions = list(mutants())
    for (table, document), answer in zip(questions, read(questions)):
        there = refused(judges[table], document)
        strange = compare(table, document, there, answer, count)
        check(not strange, table, document, strange, there, answer)
        # A written request has no read-only field, which the schema requires.
        if there == set() and answer["written"] and not table.endswith("request"):
            equal(refused(judges[table], answer["written"].encode()), set(), table, document, answer["written"])
        count["not JSON" if there is None else "refused by one" if bool(there) != bool(answer["errors"])
              else "refused by both" if there else "accepted by both"] += 1
    equal({reason for reason in count if " " not in reason}, {*REASONS, *MUTANT_REASONS})
    print(f"# {len(questions)} mutants: " + ", ".join(f"{reason}: {n}" for reason, n in count.most_common()))


e2e.main()
