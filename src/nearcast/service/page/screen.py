"""`Screen`: the one screen of the page, put together for one visit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from nicegui import Client, background_tasks, ui

from nearcast.service.matching.supervisor import PipelineStatus
from nearcast.service.page.charts import Charts
from nearcast.service.page.elements import LiveMap
from nearcast.service.page.panels import PANELS, Panel
from nearcast.service.page.sampler import Sampler, Tick
from nearcast.service.page.visit import Visit
from nearcast.service.page.why import WhyCard

TICKS_BETWEEN_CHECKS = 10
"""A token that is revoked shows the page no longer than this."""

LOGO = (
    '<h1><svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.2" '
    'aria-hidden="true"><circle cx="12" cy="12" r="2.6" fill="currentColor" stroke="none"/>'
    '<path d="M6.7 17.3a7.5 7.5 0 0 1 0-10.6m10.6 0a7.5 7.5 0 0 1 0 10.6"/>'
    '<path d="M3.5 20.5a12 12 0 0 1 0-17m17 0a12 12 0 0 1 0 17" opacity=".45"/></svg>'
    "Nearcast</h1>"
)


class Screen:
    """Header, map, panels and numbers; it lives as long as its client.

    - `corners`: south-west and north-east of what the map shows at first
    - `on_sign_out`: None when there is nothing to sign out of
    """

    def __init__(
        self,
        client: Client,
        visit: Visit,
        sampler: Sampler,
        corners: list[tuple[float, float]] | None,
        on_sign_out: Callable[[], None] | None,
    ) -> None:
        self._visit = visit
        self._client = client
        self._ticks = 0
        self._is_closed = False
        self._sampler = sampler
        with ui.element("main").classes("screen") as self._main:
            self._header(on_sign_out)
            with ui.element("div").classes("map-area"):
                self._map = LiveMap(visit.service.settings.tiles, corners)
                self._why = WhyCard(self._unchoose)
            self._charts = Charts()
            self._panels = self._side()
        self._main.on("keydown.esc", self._why.close)
        client.on_connect(self._connected)
        client.on_delete(self._close)

    def _header(self, on_sign_out: Callable[[], None] | None) -> None:
        with ui.element("header").classes("top"):
            ui.html(LOGO, sanitize=False)
            self._state = ui.label().classes("state").props('role="status" aria-live="polite"')
            self._show_state(self._visit.service.pipeline.status)
            with ui.element("div").classes("who"):
                ui.label(self._visit.owner).classes("owner")
                if on_sign_out is not None:
                    sign_out = ui.button("Sign out", color=None, on_click=on_sign_out)
                    sign_out.props("flat dense no-caps").classes("quiet")

    def _side(self) -> list[Panel]:
        panels: list[Panel] = []
        with ui.element("aside").classes("side"):
            with ui.tabs().props("align=left no-caps dense") as tabs:
                for name in PANELS:
                    ui.tab(name)
            with ui.tab_panels(tabs, value=next(iter(PANELS)), keep_alive=True, animated=False):
                for name, build in PANELS.items():
                    with ui.tab_panel(name):
                        panels.append(build(self._visit, self._map, self._why))
        return panels

    def _connected(self) -> None:
        if self._is_closed:
            return
        for panel in self._panels:
            panel.start()
        self._sampler.watch(self._client.id, self._tick)

    def _close(self) -> None:
        self._is_closed = True
        self._sampler.unwatch(self._client.id)
        for panel in self._panels:
            panel.close()

    def _tick(self, tick: Tick) -> None:
        matches = [match for panel in self._panels for match in panel.tick()]
        if tick.dots or matches:
            self._map.tick(tick.dots, matches)
        self._charts.show(tick)
        self._show_state(tick.pipeline)
        self._ticks += 1
        if self._visit.token is not None and self._ticks % TICKS_BETWEEN_CHECKS == 0:
            background_tasks.create(self._check_token(), name="page token")

    async def _check_token(self) -> None:
        if not await asyncio.to_thread(self._visit.is_welcome) and not self._is_closed:
            await self._show_out()

    async def _show_out(self) -> None:
        """End it on this side, whatever the browser does; one that obeys asks to sign in."""
        self._close()
        self._main.delete()
        with suppress(TimeoutError):  # later, so that the browser can answer before it leaves
            await self._client.run_javascript("setTimeout(() => location.reload())")
        if self._client.has_socket_connection:  # else NiceGUI is about to delete it
            self._client.delete()

    def _show_state(self, status: PipelineStatus) -> None:
        self._state.text = state_words(status)
        self._state.classes(replace=f"state {status.state}")

    def _unchoose(self) -> None:
        self._map.deselect()
        for panel in self._panels:
            panel.unchoose()


def state_words(status: PipelineStatus) -> str:
    """How the pipeline is, for people.

    >>> state_words(PipelineStatus("failed", problem="no Java"))
    'Spark stopped and will be started again: no Java'
    """
    if status.state == "running":
        return "Live: messages are being matched"
    if status.state == "failed":
        return f"Spark stopped and will be started again: {status.problem}"
    if status.state == "stopped":
        return "Stopped"
    return "Spark is starting …" if status.starts <= 1 else "Spark is starting again …"
