"""Receive webhooks: check who sent them, and take each event once.

Prints:
    event 17 of cafe: Fresh coffee and cake
    again, and known
    refused: the signature is wrong
    refused: too old or from the future
"""

import base64
import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx

from nearcast.service.delivery.signature import signed_headers

# In the answer to `PUT /v1/webhooks/{name}` that made the webhook, and only there.
SECRET = "whsec_" + base64.b64encode(b"an example of thirty-two bytes..").decode()
SECONDS_OF_TOLERANCE = 300

seen = set()  # of event ids; in real life where the work itself is kept


def problem_of(headers, body):
    """What is wrong with a request; None if it is from the service, and new."""
    if abs(time.time() - int(headers["webhook-timestamp"])) > SECONDS_OF_TOLERANCE:
        return "too old or from the future"
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    digest = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    if not hmac.compare_digest(headers["webhook-signature"], f"v1,{digest}"):
        return "the signature is wrong"
    return None


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        problem = problem_of(self.headers, body)
        if problem is None:
            for event in json.loads(body)["events"]:
                take(event)
            self.send_response(204)  # it will not come again
        else:
            print("refused:", problem)
            self.send_response(400)
        self.end_headers()

    def log_message(self, *_):
        pass


def take(event):
    """Delivery is at least once; the ids of events tell what is known."""
    if event["kind"] == "gap":
        print(f"events after {event['after']} up to {event['up_to']} are lost")
    elif event["id"] in seen:
        print("again, and known")
    else:
        seen.add(event["id"])
        text = event["message"]["properties"]["text"]
        print(f"event {event['id']} of {event['subscription']}: {text}")


server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever).start()

# What the service would post: twice, because it did not hear our first answer; then by others.
message = {"type": "Feature", "id": "1", "properties": {"text": "Fresh coffee and cake"}}
event = {"id": 17, "kind": "match", "subscription": "cafe", "message": message}
body = json.dumps({"events": [event]}).encode()
now = int(time.time())
another = "whsec_" + base64.b64encode(b"somebody else").decode()
with httpx.Client(trust_env=False) as sender:
    for secret, timestamp in [(SECRET, now), (SECRET, now), (another, now), (SECRET, now - 3600)]:
        headers = signed_headers(secret, "17-17", timestamp, body)
        sender.post(f"http://127.0.0.1:{server.server_port}", content=body, headers=headers)
server.shutdown()
server.server_close()
