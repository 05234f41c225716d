"""For those who run it: is it alive, is it ready, how is it doing?"""

from __future__ import annotations

import os
import tempfile
import time

from fastapi import APIRouter, HTTPException, Request, Response

from nearcast.service.api.access import service_of
from nearcast.service.api.errors import documented
from nearcast.service.api.models import Health
from nearcast.service.service import Service

SECONDS_OF_SILENCE = 15.0
"""The pipeline speaks every second; one that is silent for so long is not well."""

router = APIRouter(tags=["operations"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(request: Request) -> Response:
    """Numbers for Prometheus."""
    return Response(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4")


@router.get("/healthz", response_model=Health)
async def is_alive() -> dict[str, str]:
    """The process answers."""
    return {"status": "alive"}


@router.get("/readyz", response_model=Health, responses=documented(503))
def is_ready(request: Request) -> dict[str, str]:
    """Messages are matched, and can be stored."""
    problem = _problem(service_of(request))
    if problem is not None:
        raise HTTPException(503, problem)
    return {"status": "ready"}


def _problem(service: Service) -> str | None:
    status = service.pipeline.status
    if status.state != "running":
        return f"the pipeline is {status.state}" + (f": {status.problem}" if status.problem else "")
    silence = time.monotonic() - status.heard
    if silence > SECONDS_OF_SILENCE:
        return f"the pipeline has been silent for {silence:.0f} s"
    try:
        with tempfile.TemporaryFile(dir=service.folder.path) as file:
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return f"the data folder cannot be written: {error.strerror}"
    return None
