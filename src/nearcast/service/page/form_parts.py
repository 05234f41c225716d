"""What the forms of the page have in common: fields, tools of the map, the row with the button."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from nicegui import ui

SHOWN_AT_FIRST = 10


def text_field(label: str, placeholder: str, on_change: Callable[[], Any]) -> ui.input:
    """A line of text; `on_change` is called when the person pauses."""
    field = ui.input(label, placeholder=placeholder, on_change=on_change)
    return field.props("outlined dense stack-label debounce=250 no-error-icon")


def how_many(most: int) -> ui.number:
    """How long a list is to be."""
    field = ui.number(
        "How many", value=min(SHOWN_AT_FIRST, most), min=1, max=most, step=1, precision=0
    )
    return field.props("outlined dense stack-label").classes("few")


def pressed(button: ui.button, is_pressed: bool) -> None:
    """Show, and say, whether a tool is being used."""
    button.props(f'aria-pressed="{"true" if is_pressed else "false"}"')


def tool(name: str, on_click: Callable[[], Any]) -> ui.button:
    """A button that stays pressed while its tool is used."""
    button = ui.button(name, color=None, on_click=on_click)
    pressed(button, False)
    return button.props("flat dense no-caps").classes("quiet")


class Tools:
    """Buttons that draw on the map; `on_draw` gets the kind of the one that was clicked."""

    def __init__(
        self, label: str, about: str, names: Mapping[str, str], on_draw: Callable[[str], Any]
    ) -> None:
        row = ui.element("div").classes("tools").props(f'role="group" aria-label="{about}"')
        with row:
            ui.label(label).classes("label")
            self._buttons = {
                kind: tool(name, partial(on_draw, kind)) for kind, name in names.items()
            }

    def press(self, kind: str | None) -> None:
        """This one is used, and no other."""
        for each, button in self._buttons.items():
            pressed(button, each == kind)


class SubmitRow:
    """The button of a form, and beside it what there is to say about what was typed."""

    def __init__(self, button: str) -> None:
        with ui.element("div").classes("submit"):
            self._note = (
                ui.html("", sanitize=False)
                .classes("estimate")
                .props('role="status" aria-live="polite"')
            )
            submit = ui.button(button, color=None)
            submit.props("unelevated no-caps type=submit").classes("main")

    def say(self, html: str, *, is_problem: bool = False) -> None:
        """Say it; what people typed must be escaped."""
        self._note.content = html
        self._note.classes(add="problem" if is_problem else "", remove="problem")
