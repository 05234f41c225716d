"""The panel of top-k subscriptions in a real browser: click a point, subscribe, see the list."""

import re

import pytest
from playwright.sync_api import expect

from nearcast.model import TopKSubscription
from tests.service.page.driving import (
    drag,
    field,
    map_at,
    of_map,
    owner_at,
    press,
    tab_to,
    wait_for,
)

LISTS = ".best-list"
ITEMS = ".best-list li"
THUMB = ".weight .q-slider [tabindex]"
SLIDER = "What counts: words at 0, nearness at 1"


def open_panel(town, open_page, **options):
    page = open_page(town.address, **options)
    page.get_by_role("tab", name="The best").click()
    expect(field(page, "Point")).to_be_visible()
    return page


def subscribe_best(page, words="coffee cake", point="14.25, 40.84", name="", k=None):
    for label, value in (("Words", words), ("Point", point), ("Name", name)):
        field(page, label).fill(value)
    if k is not None:
        field(page, "How many").fill(str(k))
    wait_for(lambda: not point or of_map(page, "Boolean(map.draft)"))  # the service has heard of it
    press(page, "Subscribe")


def test_click_a_point_subscribe_and_see_the_list_change(town, open_page, tmp_path):
    page = open_panel(town, open_page)
    field(page, "Words").fill("coffee cake")
    press(page, "Click on the map")
    point = page.get_by_role("button", name="Click on the map")
    expect(point).to_have_attribute("aria-pressed", "true")
    page.mouse.move(*map_at(page, 0.5, 0.45))
    page.mouse.click(*map_at(page, 0.5, 0.5))
    expect(field(page, "Point")).to_have_value(re.compile(r"^14\.\d+, 40\.\d+$"))
    expect(point).to_have_attribute("aria-pressed", "false")
    field(page, "How many").fill("3")
    slider = page.get_by_label(SLIDER)
    page.locator(THUMB).focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuenow", "0.3")
    press(page, "Subscribe")
    expect(page.locator(LISTS)).to_contain_text("best 3 · 70% words, 30% nearness")

    owner = owner_at(page)
    found = town.service.subscriptions.get(owner, "coffee cake")
    assert isinstance(found.subscription, TopKSubscription)
    assert (found.subscription.k, found.subscription.alpha) == (3, 0.3)
    assert found.expires is not None
    wait_for(lambda: of_map(page, "map.shapes.map((shape) => shape.kind)") == ["point"])

    town.rank()  # of the messages that were there before
    items = page.locator(ITEMS)
    expect(items).to_have_count(3)
    at = (found.subscription.at.lon, found.subscription.at.lat)
    town.rank("Coffee <cake>", "jazz tonight", at=at)
    expect(items.first).to_contain_text("Coffee <cake>")
    expect(items.first).to_contain_text("1.000")
    expect(page.locator(f"{ITEMS}.entered")).to_have_count(1)
    expect(items).to_have_count(3)
    page.screenshot(path=tmp_path / "best.png")

    items.first.locator("button").click()
    why = page.locator(".why")
    expect(why).to_contain_text("Listed: place 1 of 3")
    expect(why).to_contain_text("counts 70%")
    expect(why.locator("mark")).to_have_text(["Coffee", "cake"])
    page.screenshot(path=tmp_path / "best-why.png")

    press(page, "Remove coffee cake")
    expect(page.locator(LISTS)).to_have_count(0)
    assert town.service.subscriptions.count(owner) == 0


@pytest.mark.thorough
def test_the_keyboard_is_enough(town, open_page):
    page = open_page(town.address)
    tab_to(page, page.get_by_role("tab", name="Every match"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    tab_to(page, field(page, "Words"))
    page.keyboard.type("coffee")
    tab_to(page, field(page, "Point"))
    page.keyboard.type("14.25, 40.84")
    wait_for(lambda: of_map(page, "Boolean(map.draft)"))
    tab_to(page, page.locator(THUMB))
    page.keyboard.press("ArrowRight")
    tab_to(page, page.get_by_role("button", name="Subscribe"))
    page.keyboard.press("Enter")
    expect(page.locator(LISTS)).to_contain_text("best 10 · 45% words, 55% nearness")
    town.rank("coffee to go")
    tab_to(page, page.locator(f"{ITEMS} button").first)
    page.keyboard.press("Enter")
    expect(page.locator(".why")).to_contain_text("place 1 of 10")
    page.keyboard.press("Escape")
    expect(page.locator(".why")).to_be_hidden()
    tab_to(page, page.get_by_role("button", name="Remove coffee"))
    page.keyboard.press("Enter")
    expect(page.locator(LISTS)).to_have_count(0)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "point", "text"),
    [
        ("coffee", "14, 95", "latitude 95.0 is outside [-90, 90]"),
        ("coffee", "14", "a point has 2 numbers, not 1; give lon, lat"),
        ("coffee", "", "no point yet; click one on the map"),
        ("", "14, 40", "no words yet; type at least one"),
    ],
)
def test_what_is_wrong_is_said(town, open_page, words, point, text):
    page = open_panel(town, open_page)
    field(page, "Words").fill(words)
    field(page, "Point").fill(point)
    press(page, "Subscribe")
    expect(page.locator("form")).to_contain_text(text)
    assert town.service.subscriptions.count() == 0


@pytest.mark.thorough
def test_each_panel_draws_for_itself(town, open_page):
    page = open_panel(town, open_page)
    field(page, "Point").fill("14.25, 40.84")
    page.get_by_role("tab", name="Every match").click()
    press(page, "Box")
    drag(page, (0.2, 0.2), (0.8, 0.8))
    expect(field(page, "Place")).to_have_value(re.compile(r"^14\.\d+, 40\.\d+, 14\.\d+, 40\.\d+$"))
    page.get_by_role("tab", name="The best").click()
    expect(field(page, "Point")).to_have_value("14.25, 40.84")


@pytest.mark.thorough
def test_a_phone_in_the_dark_has_it_too(town, open_page, tmp_path):
    page = open_panel(
        town,
        open_page,
        viewport={"width": 390, "height": 844},
        color_scheme="dark",
    )
    subscribe_best(page, k=5)
    expect(page.locator(LISTS)).to_contain_text("best 5")
    town.rank("Coffee, cake and a very long story about both that does not fit into one line")
    expect(page.locator(ITEMS)).to_have_count(5)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    page.screenshot(path=tmp_path / "best-phone.png", full_page=True)


def test_a_reload_brings_the_lists_back(town, open_page):
    page = open_panel(town, open_page)
    subscribe_best(page, name="break", k=2)
    expect(page.locator(LISTS)).to_contain_text("break")
    town.rank("coffee cake")
    expect(page.locator(ITEMS)).to_have_count(2)
    page.reload()
    page.get_by_role("tab", name="The best").click()
    expect(page.locator(ITEMS)).to_have_count(2)
