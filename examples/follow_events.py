"""Follow the matches of your subscriptions; a connection that is lost costs nothing.

Prints:
    event 1 of cafe: Fresh coffee and cake
    (the connection is lost)
    event 2 of cafe: Coffee to go, last call
    all has arrived, up to event 2
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx

PLACE = {"type": "Point", "coordinates": [2.36, 48.85]}


def main(api):
    # What we want to hear of, and where. In real life others publish.
    wish = {"keywords": "coffee", "radius": 500}
    subscription = {"type": "Feature", "geometry": PLACE, "properties": wish}
    api.put("/v1/subscriptions/cafe", json=subscription).raise_for_status()
    for id, text in enumerate(["Fresh coffee and cake", "Tea", "Coffee to go, last call"]):
        message = {"type": "Feature", "geometry": PLACE, "properties": {"text": text}}
        api.post("/v1/messages", json={**message, "id": str(id)}).raise_for_status()

    last_id = show(next(events(api, None)))
    print("(the connection is lost)")
    last_id = show(next(events(api, last_id)))
    cursor = api.post("/v1/events/ack", json={"id": last_id}).json()["cursor"]
    print(f"all has arrived, up to event {cursor}")


def events(api, last_id):
    """Events behind the one that we have, as they come; naming it also acknowledges it."""
    headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
    with api.stream("GET", "/v1/events/stream", headers=headers) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


def show(event):
    text = event["message"]["properties"]["text"]
    print(f"event {event['id']} of {event['subscription']}: {text}")
    return event["id"]


# A service of our own, on any free port. It says what it does, a line of JSON each.
nearcast = Path(sys.executable).with_name("nearcast")
data = tempfile.mkdtemp()
command = [nearcast, "serve", "--data", data, "--port", "0", "--log-level", "error", "--json"]
service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
try:
    facts = {}
    while "address" not in facts:
        facts |= json.loads(service.stdout.readline())
    token = {"Authorization": f"Bearer {facts['token']}"}
    with httpx.Client(base_url=facts["address"], headers=token, timeout=None) as api:
        main(api)
finally:
    service.terminate()
    service.communicate()
