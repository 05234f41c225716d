"""What a person does at the page, and sees there."""

import time

from playwright.sync_api import expect

MATCHES = ".match-list li button"
MINE = ".mine .one"


def map_at(page, x, y):
    """A place of the map, in parts of its size, as the mouse knows it."""
    box = page.locator(".live-map").bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def drag(page, begin, end):
    page.mouse.move(*map_at(page, *begin))
    page.mouse.down()
    page.mouse.move(*map_at(page, *end), steps=5)
    page.mouse.up()


def field(page, name):
    return page.get_by_label(name, exact=True)


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def subscribe(page, words="", place="", name=""):
    """Fill in and send; what is typed reaches the service a moment later, as for a person."""
    for label, value in (("Words", words), ("Place", place), ("Name", name)):
        field(page, label).fill(value)
    expect(page.locator(".estimate")).to_contain_text("message")
    press(page, "Subscribe")
    expect(page.locator(".estimate")).to_contain_text("Subscribed")


def owner_at(page):
    return page.locator(".owner").text_content()


def of_map(page, what):
    """The value of an expression over `map`, the component of the map."""
    code = f"(element) => {{ const map = getElement(element.id.slice(1)); return {what}; }}"
    return page.locator(".live-map").evaluate(code)


def tab_to(page, locator, most=60):
    """Press Tab until something has the focus."""
    for _ in range(most):
        if locator.evaluate("(element) => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{locator} is not reached by Tab")


def wait_for(condition, seconds=60):
    """Until it holds; the limit is for a test that hangs."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)
