"""Signs what is posted, as the Standard Webhooks specification says.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from __future__ import annotations

import base64
import hashlib
import hmac

PREFIX = "whsec_"


def signed_headers(secret: str, id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers that let a receiver check who sent a body, and when.

    >>> signed_headers("whsec_c2VjcmV0", "17-18", 1731662000, b"{}")["webhook-signature"]
    'v1,XNQWLBrB65hm3dGClKn93grC6BAC+ykGOaNWKYhpnXw='
    """
    key = base64.b64decode(secret.removeprefix(PREFIX))
    content = b".".join([id.encode(), str(timestamp).encode(), body])
    digest = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return {
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{digest}",
    }
