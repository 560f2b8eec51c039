"""The types of twin_tables.h and the routes of twin_server.c for FastAPI.

    app.py < REQUESTS > ANSWERS

A request is a line of JSON: [METHOD, TARGET, HEADERS, BODY in hexadecimal digits].  The answer is a line of JSON:
[STATUS, LOCS], in which LOCS is null if the status is not 422.  The first line has the versions.

Numbers, booleans and strings of bodies are strict, as in a table of eddy.
"""
import asyncio
import datetime
import json
import sys
import typing
import urllib.parse
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import fastapi
import pydantic
import starlette
from fastapi import Form, Path, Query
from pydantic import BaseModel, ConfigDict, EmailStr, Field, IPvAnyAddress, StrictBool
from pydantic import AnyUrl, AwareDatetime, StrictFloat, StrictInt, StrictStr
from pydantic.networks import IPv4Address, IPv6Address

Color = Literal["red", "green", "deep blue"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Account(Strict):
    name: Annotated[StrictStr, Field(min_length=2, max_length=8)]
    age: Annotated[StrictInt, Field(ge=0, le=150)]
    parent: Optional[StrictStr]
    ratio: Optional[Annotated[StrictFloat, Field(ge=0, le=0.5)]] = None
    verified: Optional[StrictBool] = None
    color: Optional[Color] = None
    nickname: Optional[Annotated[StrictStr, Field(max_length=10)]] = None
    password: Optional[Annotated[StrictStr, Field(min_length=8, max_length=20)]] = None


class Address(Strict):
    city: Annotated[StrictStr, Field(min_length=1, max_length=20)]
    zip: Optional[Annotated[StrictStr, Field(min_length=5, max_length=5)]] = None


class Line(BaseModel):
    sku: Annotated[StrictStr, Field(min_length=1, max_length=8)]
    count: Annotated[StrictInt, Field(ge=1, le=2**32 - 1)]
    to: Optional[list[Address]] = None


def different(items):
    if len(items) != len(set(items)):
        raise ValueError("two items are equal")
    return items


class Order(BaseModel):
    home: Address
    work: Optional[Address] = None
    lines: Annotated[list[Line], Field(min_length=1, max_length=3)]
    tags: Optional[Annotated[list[Annotated[StrictStr, Field(min_length=1, max_length=8)]], Field(max_length=4),
                             pydantic.AfterValidator(different)]] = None
    codes: Optional[Annotated[list[Annotated[StrictInt, Field(ge=-5, le=5)]], Field(max_length=4)]] = None
    note: Any = None


class Circle(Strict):
    type: Literal["circle"]
    radius: Annotated[StrictFloat, Field(ge=0)]


class Square(Strict):
    type: Literal["square"]
    side: Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]
    label: Optional[StrictStr] = None


Shape = Annotated[typing.Union[Circle, Square], Field(discriminator="type")]


class Drawing(BaseModel):
    frame: Shape
    shapes: Optional[list[Shape]] = None
    weights: Optional[Annotated[dict[StrictStr, Annotated[StrictInt, Field(ge=1, le=1000)]], Field(max_length=3)]] = None


class Contact(BaseModel):
    email: Optional[EmailStr] = None
    uuid: Optional[UUID] = None
    time: Optional[AwareDatetime] = None
    date: Optional[datetime.date] = None
    uri: Optional[AnyUrl] = None
    ip: Optional[IPvAnyAddress] = None
    ipv4: Optional[IPv4Address] = None
    ipv6: Optional[IPv6Address] = None


class Page(Strict):
    size: Annotated[int, Field(ge=1, le=9)]
    number: Annotated[int, Field(ge=0)] = 0


app = fastapi.FastAPI()


@app.post("/accounts", status_code=201)
def make_account(account: Account):
    return {}


@app.post("/orders")
def make_order(order: Order):
    return {}


@app.post("/drawings")
def make_drawing(drawing: Drawing):
    return {}


@app.post("/contacts")
def make_contact(contact: Contact):
    return {}


@app.get("/search")
def search(q: Annotated[str, Query(min_length=3, max_length=8)],
           limit: Annotated[int, Query(ge=1, le=100)] = 10,
           ratio: Annotated[Optional[float], Query(ge=-1, le=1)] = None,
           exact: Optional[bool] = None,
           color: Optional[Color] = None,
           tag: Annotated[Optional[list[Annotated[int, Field(ge=1)]]], Query(max_length=3)] = None):
    return {}


@app.get("/pages")
def show_page(page: Annotated[Page, Query()]):
    return {}


@app.get("/items/{id}/{color}")
def show_item(id: Annotated[int, Path(ge=1, le=1000)], color: Color):
    return {}


@app.delete("/items/{id}/{color}", status_code=204)
def remove_item(id: Annotated[int, Path(ge=1, le=1000)], color: Color):
    return None


@app.put("/teams/{team}/members/{id}")
def set_member(team: Annotated[str, Path(min_length=2, max_length=5)], id: Annotated[int, Path(ge=1)],
               page: Annotated[Page, Query()], account: Account):
    return {}


@app.post("/signups")
def sign_up(name: Annotated[str, Form(min_length=2, max_length=8)],
            age: Annotated[Optional[int], Form(ge=0, le=150)] = None,
            color: Annotated[Optional[Color], Form()] = None,
            tag: Annotated[Optional[list[Annotated[str, Field(min_length=1, max_length=8)]]], Form()] = None):
    return {}


async def ask(method, target, headers, body):
    """Call the application as a server does, without a socket; returns the status and the body."""
    path, _, query = target.partition("?")
    scope = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
             "method": method, "scheme": "http", "path": urllib.parse.unquote(path), "raw_path": path.encode(),
             "query_string": query.encode(), "root_path": "", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
             "headers": [(name.lower().encode(), value.encode()) for name, value in headers]}
    sent = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    try:
        await app(scope, receive, send)
    except ValueError:
        return 500, b""  # NaN is in its answer, which is not JSON then
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


async def main():
    print(json.dumps({"fastapi": fastapi.__version__, "pydantic": pydantic.VERSION, "starlette": starlette.__version__}))
    for line in sys.stdin:
        method, target, headers, body = json.loads(line)
        status, answer = await ask(method, target, headers, bytes.fromhex(body))
        locs = [error["loc"] for error in json.loads(answer)["detail"]] if status == 422 else None
        print(json.dumps([status, locs]))


asyncio.run(main())
