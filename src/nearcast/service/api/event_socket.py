"""Events over a WebSocket, and positions the other way."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

from fastapi import APIRouter, HTTPException, WebSocket
from starlette.websockets import WebSocketDisconnect

from nearcast.service.api.access import admit, service_of
from nearcast.service.api.errors import BadInput
from nearcast.service.api.followers import After, acknowledge, first_number, hub_of, pages_of
from nearcast.service.api.position_routes import read_position
from nearcast.service.stores.tokens import SUBSCRIBER, Token

SECONDS_FOR_A_TOKEN = 10.0
REFUSED, ENDED = 1008, 1001  # close codes: breaks a rule; goes away
LONGEST_TEXT = 1_000
"""Letters of what a reader says: a token, or an acknowledgement."""
LONGEST_MOVE = 65_536
"""Letters of a position; the server takes no longer text."""
_LONGEST_REASON = 120  # bytes; the protocol allows 123

router = APIRouter()


@router.websocket("/v1/events/socket")
async def socket_of_events(websocket: WebSocket, after: After = None) -> None:
    """Events as they come, one JSON text each.  `{"ack": 17}` acknowledges all up to 17.

    `{"move": Feature}` says where a subscription is now, see `/v1/positions`; the answer, once it
    is durable, is `{"moved": id}` with the `time` of the position, if it has one. With the property
    `safe` of the Feature an event of kind "safe" follows, which says how many metres a circle may
    go from there before anything can change; a later one with 0 asks for a position at once.

    Without an Authorization header the first message is `{"token": "…"}`.
    """
    await websocket.accept()
    try:
        secret = _secret_in_header(websocket) or await _secret_in_first_message(websocket)
        token = await asyncio.to_thread(admit, websocket, secret, SUBSCRIBER)
        begin = await asyncio.to_thread(first_number, websocket, token, after)
    except WebSocketDisconnect:
        return
    except (HTTPException, BadInput) as error:
        reason = error.detail if isinstance(error, HTTPException) else str(error)
        await websocket.close(REFUSED, _cut(reason))
        return
    sending = asyncio.create_task(_send_events(websocket, token, secret, begin))
    receiving = asyncio.create_task(_hear(websocket, token))
    tasks = sending, receiving
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect):
            raise result


async def _send_events(websocket: WebSocket, token: Token, secret: str, after: int) -> None:
    async with aclosing(pages_of(websocket, token, secret, after)) as pages:
        async for page in pages:
            for text in page.texts:
                await websocket.send_text(text)
    await websocket.close(ENDED, "the token was revoked or the service stops")


async def _hear(websocket: WebSocket, token: Token) -> None:
    """Acknowledgements and positions, one after the other."""
    while True:
        text = await _receive(websocket)
        try:
            if (position := _field(text, "move", LONGEST_MOVE)) is not None:
                await websocket.send_text(json.dumps(await _move(websocket, token, position)))
                continue
            number = _field(text, "ack")
            if type(number) is not int:
                raise BadInput('send {"ack": 17} with the id of an event, or {"move": Feature}')
            await hub_of(websocket).write(acknowledge, websocket, token, number)
        except (BadInput, HTTPException) as error:
            reason = error.detail if isinstance(error, HTTPException) else str(error)
            await websocket.send_text(json.dumps({"error": reason}))
        except OSError as error:
            reason = f"not acknowledged: {error.strerror}; send it again"
            await websocket.send_text(json.dumps({"error": reason}))


async def _move(websocket: WebSocket, token: Token, feature: object) -> dict[str, object]:
    """Where a subscription is now; what to answer when that is durable."""
    websocket.app.state.position_rate.take(token.id)
    service = service_of(websocket)
    position = read_position(json.dumps(feature).encode(), service.settings)
    [problem] = await asyncio.to_thread(service.subscriptions.move, token.name, [position])
    if problem is not None:
        raise BadInput(problem)
    time = {} if position.time is None else {"time": position.time}
    return {"moved": position.id, **time}


async def _receive(websocket: WebSocket) -> str:
    """The next text; what is none reads as an empty one."""
    try:
        return await websocket.receive_text() or ""
    except KeyError:  # a binary message
        return ""


def _secret_in_header(websocket: WebSocket) -> str:
    scheme, _, secret = websocket.headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


async def _secret_in_first_message(websocket: WebSocket) -> str:
    try:
        text = await asyncio.wait_for(_receive(websocket), SECONDS_FOR_A_TOKEN)
    except TimeoutError:
        raise BadInput('no token came in time; send {"token": "…"} first') from None
    secret = _field(text, "token")
    return secret if isinstance(secret, str) and secret.isascii() else ""


def _field(text: str, name: str, longest: int = LONGEST_TEXT) -> object:
    try:
        words = json.loads(text) if len(text) <= longest else None
    except (ValueError, RecursionError):
        words = None
    return words.get(name) if isinstance(words, dict) else None


def _cut(reason: str) -> str:
    return reason.encode(errors="replace")[:_LONGEST_REASON].decode(errors="ignore")
