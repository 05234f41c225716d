"""The page in a real browser: draw, subscribe, see matches arrive and why."""

import re

import pytest
from playwright.sync_api import expect

from nearcast.model import Box, Circle, Polygon
from nearcast.service.page import following
from tests.service.page.driving import (
    MATCHES,
    MINE,
    drag,
    field,
    map_at,
    of_map,
    owner_at,
    press,
    subscribe,
    tab_to,
    wait_for,
)


def test_draw_a_box_subscribe_and_see_why_a_match_arrived(town, open_page, tmp_path):
    page = open_page(town.address)
    field(page, "Words").fill("coffee AND cake")
    press(page, "Box")
    drag(page, (0.2, 0.2), (0.8, 0.8))
    expect(field(page, "Place")).to_have_value(re.compile(r"^14\.\d+, 40\.\d+, 14\.\d+, 40\.\d+$"))
    expect(page.locator(".estimate")).to_contain_text(re.compile(r"about .* messages a day"))
    field(page, "Name").fill("cake break")
    press(page, "Subscribe")
    expect(page.locator(MINE)).to_contain_text("cake break")

    owner = owner_at(page)
    found = town.service.subscriptions.get(owner, "cake break")
    assert isinstance(found.subscription.region, Box)
    assert found.expires is not None  # a visitor may never come back
    assert of_map(page, "map.shapes.map((shape) => shape.kind)") == ["box"]

    box = found.subscription.region
    place = (box.west + box.east) / 2, (box.south + box.north) / 2
    [event] = town.say("<b>Coffee</b> & cake!", *place, to=[(owner, "cake break")])
    match = page.locator(MATCHES)
    expect(match).to_contain_text("<b>Coffee</b> & cake!")
    lit = "map.canvas.dots.filter((dot) => dot.colour).map((dot) => dot.at)"
    assert of_map(page, lit) == [[place[1], place[0]]]
    expect(page.locator(f"{MINE} .count")).to_have_text("1")
    wait_for(lambda: town.service.deliveries.cursor(owner) == event)

    match.click()
    why = page.locator(".why")
    expect(why).to_contain_text("<b>Coffee</b> & cake!")
    expect(why).to_contain_text("Has 'cake' and 'coffee'; inside the region")
    expect(why.locator("mark")).to_have_text(["Coffee", "cake"])
    assert of_map(page, "map.canvas.selected") == [place[1], place[0]]
    page.screenshot(path=tmp_path / "page.png")

    press(page, "Remove cake break")
    expect(page.locator(MINE)).to_have_count(0)
    expect(page.locator(MATCHES)).to_have_count(0)
    assert town.service.subscriptions.count(owner) == 0


@pytest.mark.thorough
def test_draw_a_circle_and_a_polygon(town, open_page):
    page = open_page(town.address)
    press(page, "Circle")
    drag(page, (0.5, 0.5), (0.6, 0.6))
    expect(field(page, "Place")).to_have_value(re.compile(r"^14\.\d+, 40\.\d+, \d+$"))
    field(page, "Name").fill("round")
    press(page, "Subscribe")
    expect(page.locator(MINE)).to_have_count(1)

    press(page, "Polygon")
    expect(page.get_by_role("button", name="Polygon")).to_have_attribute("aria-pressed", "true")
    for corner in ((0.3, 0.3), (0.6, 0.3), (0.5, 0.6), (0.3, 0.3)):
        # leaflet.draw takes no second click at once, because people double-click.
        wait_for(lambda: of_map(page, "Boolean(map.tool) && !map.tool._disableMarkers"))
        page.mouse.click(*map_at(page, *corner))
    expect(page.get_by_role("button", name="Polygon")).to_have_attribute("aria-pressed", "false")
    field(page, "Name").fill("three corners")
    press(page, "Subscribe")
    expect(page.locator(MINE)).to_have_count(2)

    regions = {
        id: town.service.subscriptions.get(owner, id).subscription.region
        for owner, id in town.service.subscriptions.ids()
    }
    assert isinstance(regions["round"], Circle)
    assert isinstance(regions["three corners"], Polygon)
    assert len(regions["three corners"].rings[0]) == 3


def test_the_estimate_follows_the_drawing(town, open_page):
    page = open_page(town.address)
    press(page, "Box")
    page.mouse.move(*map_at(page, 0.1, 0.1))
    page.mouse.down()
    page.mouse.move(*map_at(page, 0.9, 0.9), steps=5)
    expect(page.locator(".estimate")).to_contain_text("messages a day")
    expect(field(page, "Place")).to_have_value("")
    page.mouse.up()
    expect(field(page, "Place")).not_to_have_value("")


def test_the_keyboard_is_enough(town, open_page):
    page = open_page(town.address)
    tab_to(page, field(page, "Words"))
    page.keyboard.type("coffee")
    tab_to(page, field(page, "Place"))
    page.keyboard.type("14.25, 40.84, 500")
    expect(page.locator(".estimate")).to_contain_text("messages a day")
    page.keyboard.press("Enter")
    expect(page.locator(MINE)).to_contain_text("coffee")
    expect(field(page, "Words")).to_be_focused()

    owner = owner_at(page)
    region = town.service.subscriptions.get(owner, "coffee").subscription.region
    assert region.radius == 500
    town.say("coffee to go", to=[(owner, "coffee")])
    expect(page.locator(MATCHES)).to_have_count(1)
    tab_to(page, page.locator(MATCHES))
    page.keyboard.press("Enter")
    expect(page.locator(".why")).to_contain_text("Has 'coffee'")
    page.keyboard.press("Escape")
    expect(page.locator(".why")).to_be_hidden()

    tab_to(page, page.get_by_role("button", name="Remove coffee"))
    page.keyboard.press("Enter")
    expect(page.locator(MINE)).to_have_count(0)


def test_what_is_wrong_is_said_beside_the_field(town, open_page):
    page = open_page(town.address)
    field(page, "Words").fill("coffee AND")
    form = page.locator("form")
    expect(form).to_contain_text("column 11: a word is missing here, at the end; add one")
    field(page, "Place").fill("14, 95, 300")
    expect(form).to_contain_text("latitude 95.0 is outside [-90, 90]")
    press(page, "Subscribe")
    field(page, "Words").fill("coffee")
    field(page, "Place").fill("14, 40")
    expect(form).to_contain_text("a place has 3 or 4 numbers")
    field(page, "Place").fill("")
    field(page, "Name").fill("a/b")
    press(page, "Subscribe")
    expect(page.locator(".estimate")).to_contain_text("has a slash")
    assert town.service.subscriptions.count() == 0


def test_visitors_see_only_their_own(town, open_page):
    ann, bob = open_page(town.address), open_page(town.address)
    assert owner_at(ann) != owner_at(bob)
    subscribe(ann, "coffee", name="for ann")
    subscribe(bob, "coffee", name="for bob")
    town.say("one for ann", to=[(owner_at(ann), "for ann")])
    town.say("one for bob", to=[(owner_at(bob), "for bob")])
    for page, name in ((ann, "ann"), (bob, "bob")):
        expect(page.locator(MATCHES)).to_have_count(1)
        expect(page.locator(MATCHES)).to_contain_text(f"one for {name}")
        expect(page.locator(MINE)).to_have_count(1)
        expect(page.locator(MINE)).to_contain_text(f"for {name}")


def test_a_reload_brings_everything_back_and_a_closed_tab_frees_it(town, open_page):
    page = open_page(town.address)
    subscribe(page, "coffee", "14.25, 40.84, 500", "near")
    town.say("coffee here", to=[(owner_at(page), "near")])
    expect(page.locator(MATCHES)).to_have_count(1)
    view = "[map.map.getZoom(), map.map.getCenter().lat.toFixed(3)]"
    zoom, lat = of_map(page, view)
    page.get_by_role("button", name="Zoom in").click()
    kept = "JSON.parse(localStorage.getItem('nearcast-view'))?.zoom"
    wait_for(lambda: page.evaluate(kept) == zoom + 1)

    page.reload()
    page.wait_for_selector(".live-map[data-ready]")
    expect(page.locator(MATCHES)).to_contain_text("coffee here")
    expect(page.locator(MINE)).to_contain_text("near")
    assert of_map(page, view) == [zoom + 1, lat]
    assert of_map(page, "map.canvas.dots.filter((dot) => dot.colour).length") == 0  # it is old

    page.close()
    wait_for(lambda: town.server.app.state.hub.streams == 0)


def test_a_fault_of_the_stores_is_not_the_end_of_the_matches(town, open_page, monkeypatch, caplog):
    monkeypatch.setattr(following, "SECONDS_AFTER_A_FAULT", 0.0)
    begin, faults = town.service.outbox.before_newest, [OSError("no luck")]

    def unlucky(*values):
        if faults:
            raise faults.pop()
        return begin(*values)

    monkeypatch.setattr(town.service.outbox, "before_newest", unlucky)
    page = open_page(town.address)
    subscribe(page, "coffee", name="all")
    town.say("after all", to=[(owner_at(page), "all")])
    expect(page.locator(MATCHES)).to_contain_text("after all")
    assert "no luck" in caplog.text
    caplog.clear()


@pytest.mark.thorough
def test_a_list_holds_still_under_the_mouse(town, open_page):
    page = open_page(town.address)
    subscribe(page, "coffee", name="all")
    to = [(owner_at(page), "all")]
    town.say("the first", to=to)
    expect(page.locator(MATCHES)).to_have_count(1)
    page.locator(MATCHES).hover()
    town.say("the second", to=to)
    expect(page.locator(".match-list .waiting")).to_have_text("1 new")
    expect(page.locator(MATCHES)).to_have_count(1)
    page.locator(".match-list .waiting").click()
    expect(page.locator(MATCHES)).to_contain_text(["the second", "the first"])


@pytest.mark.thorough
def test_a_phone_has_it_all_below_each_other(town, open_page, tmp_path):
    page = open_page(
        town.address, viewport={"width": 390, "height": 780}, is_mobile=True, has_touch=True
    )
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    map_box, form_box = (
        page.locator(part).bounding_box() for part in (".live-map", "form >> nth=0")
    )
    assert map_box["width"] == 390
    assert form_box["y"] >= map_box["y"] + map_box["height"]
    subscribe(page, "coffee", name="all")
    town.say("coffee for phones", to=[(owner_at(page), "all")])
    page.locator(MATCHES).tap()
    expect(page.locator(".why")).to_be_in_viewport(ratio=1)
    expect(page.locator(".live-map")).to_be_in_viewport(ratio=0.9)
    page.screenshot(path=tmp_path / "phone.png")


@pytest.mark.thorough
def test_dark_when_the_system_is(town, open_page, tmp_path):
    colour = "getComputedStyle(document.querySelector('.side')).backgroundColor"
    light = open_page(town.address)
    dark = open_page(town.address, color_scheme="dark")
    assert light.evaluate(colour) == "rgb(255, 255, 255)"
    assert dark.evaluate(colour) == "rgb(22, 28, 35)"
    dark.screenshot(path=tmp_path / "dark.png")


def test_numbers_and_the_state_of_spark(town, open_page):
    page = open_page(town.address)
    expect(page.locator(".state")).to_have_text("Spark is starting …")
    subscribe(page, "coffee", name="all")
    totals = page.locator(".totals .total")
    expect(totals.nth(0)).to_have_text("1")
    town.say("coffee", to=[(owner_at(page), "all")] * 3)
    expect(totals.nth(1)).to_have_text("3")
    expect(page.locator(".pulse canvas")).to_have_count(4)


def test_the_root_leads_to_the_page_and_the_api_keeps_its_errors(town, open_page):
    page = open_page(town.address)
    assert page.url == f"{town.address}/map/"
    answer = page.request.get(f"{town.address}/v1/nothing")
    assert answer.status == 404
    assert "error" in answer.json()


@pytest.mark.thorough
def test_the_first_view_is_of_the_subscriptions_where_nothing_is_said(start_town, open_page):
    with start_town() as town:
        page = open_page(town.address)
        for label, value in (("Place", "14.25, 40.84, 500"), ("Name", "here")):
            field(page, label).fill(value)
        expect(page.locator(".estimate")).to_contain_text("no messages yet to estimate from")
        press(page, "Subscribe")
        expect(page.locator(MINE)).to_have_count(1)
        wait_for(lambda: of_map(page, "map.map.getZoom()") > 10)
        town.say("coffee", -70, -30)  # far away: the map goes there, for lack of anything else
        wait_for(lambda: of_map(page, "map.map.getBounds().contains([-30, -70])"))
