"""Calls each operation of twin_server by the client that openapi-python-client has made, the package `twin`.

    twin_calls.py URL

Prints a line of JSON for each call: [OPERATION, STATUS, TYPE of the answer, ANSWER].
"""
import datetime
import json
import sys
import uuid

from twin import Client
from twin.api.accounts import make_account
from twin.api.default import (delete_items_by_id_by_color, get_files_by_path, get_items_by_id_by_color, get_pages,
                              post_contacts, post_drawings, post_orders, post_signups, put_teams_by_team_members_by_id)
from twin.api.search import get_search
from twin.models import (Account, Address, Contact, DeleteItemsByIdByColorColor, Drawing, DrawingWeightsType0,
                         GetItemsByIdByColorColor, GetSearchColor, Line, Order, ShapeCircle, ShapeSquare, Signup)

client = Client(base_url=sys.argv[1])


def call(operation, *args, **named):
    response = operation.sync_detailed(*args, client=client, **named)
    answer = response.parsed
    print(json.dumps([operation.__name__.rpartition(".")[2], int(response.status_code), type(answer).__name__,
                      answer.to_dict() if hasattr(answer, "to_dict") else answer]))
    return answer


ada = Account(id=1, name="Ada", age=36, parent=None, ratio=0.25, password="12345678")
call(make_account, body=ada)
call(make_account, body=Account(id=1, name="taken", age=1, parent="root", verified=True))
call(make_account, body=Account(id=1, name="A", age=151, parent=None))
order = call(post_orders, body=Order(home=Address(city="Ulm"), lines=[
    Line(sku="a", count=1, to=[Address(city="Bonn", zip_="53111")])], tags=["x", "y"], codes=[-5, 5], note={"a": [None]}))
assert order.lines[0].to[0].zip_ == "53111", order
weights = DrawingWeightsType0()
weights["a"] = 1
drawing = call(post_drawings, body=Drawing(frame=ShapeCircle(type_="circle", radius=1.5), weights=weights, shapes=[
    ShapeSquare(type_="square", side=2, label="b"), ShapeCircle(type_="circle", radius=0)]))
assert isinstance(drawing.frame, ShapeCircle) and isinstance(drawing.shapes[0], ShapeSquare), drawing
assert drawing.weights["a"] == 1, drawing
moment = datetime.datetime(2026, 11, 29, 12, 30, tzinfo=datetime.timezone.utc)
contact = call(post_contacts, body=Contact(
    email="ada@example.com", uuid=uuid.UUID(int=7), time=moment, date=datetime.date(2024, 2, 29), uri="https://a.example/",
    ip="::1", ipv4="10.0.0.1", ipv6="fe80::1"))
assert (contact.uuid, contact.time, contact.date) == (uuid.UUID(int=7), moment, datetime.date(2024, 2, 29)), contact
call(get_search, q="a b", limit=7, ratio=-0.5, exact=True, color=GetSearchColor.DEEP_BLUE, tag=[1, 2])
call(get_search, q="abc")
call(get_search, q="a", limit=101)
call(get_pages, size=3)
call(get_items_by_id_by_color, 5, GetItemsByIdByColorColor.DEEP_BLUE)
call(delete_items_by_id_by_color, 5, DeleteItemsByIdByColorColor.RED)
call(delete_items_by_id_by_color, 404, DeleteItemsByIdByColorColor.RED)
call(put_teams_by_team_members_by_id, "\u00e9/x", 9, body=ada, size=3, number=1)
call(post_signups, body=Signup(name="Ada", age=36, tag=["a", "b"]))
call(get_files_by_path, "a.txt")
