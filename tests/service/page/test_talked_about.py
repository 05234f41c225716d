"""The panel of trending terms in a real browser: click a point or draw a region, see the cloud."""

import re

from playwright.sync_api import expect

from nearcast.model import NearbyTrendingSubscription, TrendingSubscription
from tests.service.page.driving import drag, field, map_at, owner_at, press, tab_to

CLOUDS = ".best-list"
TERMS = ".cloud li"


def open_panel(town, open_page, **options):
    page = open_page(town.address, **options)
    page.get_by_role("tab", name="Terms").click()
    expect(field(page, "Place")).to_be_visible()
    return page


def test_click_a_point_draw_a_region_and_see_the_terms_change(town, open_page, tmp_path):
    page = open_panel(town, open_page)
    press(page, "Point")
    page.mouse.move(*map_at(page, 0.5, 0.45))
    page.mouse.click(*map_at(page, 0.5, 0.5))
    expect(field(page, "Place")).to_have_value(re.compile(r"^14\.\d+, 40\.\d+$"))
    field(page, "Name").fill("around")
    press(page, "Subscribe")
    expect(page.locator(CLOUDS)).to_contain_text("the nearer the more they count")
    press(page, "Circle")  # and another thought
    press(page, "Box")
    expect(page.get_by_role("button", name="Box")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Circle")).to_have_attribute("aria-pressed", "false")
    drag(page, (0.2, 0.2), (0.8, 0.8))
    expect(field(page, "Place")).to_have_value(re.compile(r"^14.*, 40.*, 14.*, 40"))
    field(page, "How many").fill("3")
    field(page, "Name").fill("here")
    press(page, "Subscribe")
    expect(page.locator(CLOUDS)).to_have_count(2)
    owner = owner_at(page)
    kinds = [
        type(town.service.subscriptions.get(owner, name).subscription)
        for name in ("around", "here")
    ]
    assert kinds == [NearbyTrendingSubscription, TrendingSubscription]

    town.rank()  # of the messages that were there before
    here = page.get_by_role("region", name="here")
    expect(here.locator(TERMS)).to_have_count(3)
    expect(here.locator(".change")).to_have_count(0)
    town.rank(*["jazz jazz jazz jazz"] * 20)
    expect(here.locator(f"{TERMS}.entered .term")).to_have_text(["jazz"])
    expect(here.locator(".gone")).to_contain_text("gone:")
    sizes = here.locator(TERMS).evaluate_all(
        "(all) => all.map((each) => [parseInt(each.style.fontSize), each.children[0].innerText])"
    )
    assert max(sizes)[1] == "jazz"
    page.screenshot(path=tmp_path / "terms.png")

    press(page, "Remove here")
    expect(page.locator(CLOUDS)).to_have_count(1)


def test_the_keyboard_is_enough_on_a_phone_in_the_dark(town, open_page, tmp_path):
    page = open_panel(town, open_page, viewport={"width": 390, "height": 844}, color_scheme="dark")
    tab_to(page, field(page, "Place"))
    page.keyboard.type("14.25, 40.84, 5000")
    tab_to(page, page.get_by_role("button", name="Subscribe"))
    page.keyboard.press("Enter")
    expect(page.locator(CLOUDS)).to_contain_text("in the region at 14.250, 40.840")
    town.rank("jazz in the park")
    expect(page.locator(TERMS)).to_have_count(5)  # coffee, cake, fresh, jazz, park
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.screenshot(path=tmp_path / "terms-phone.png", full_page=True)
    field(page, "Place").fill("14, 95")
    press(page, "Subscribe")
    expect(page.locator("form")).to_contain_text("latitude 95.0 is outside [-90, 90]")
    tab_to(page, page.get_by_role("button", name="Remove in the region"))
    page.keyboard.press("Enter")
    expect(page.locator(CLOUDS)).to_have_count(0)
