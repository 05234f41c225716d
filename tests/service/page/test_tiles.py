"""Tiles are shown where there are any, and nothing breaks where there are none."""

import re

from playwright.sync_api import expect

from tests.service.page.driving import of_map

TILES = "http://tiles.test/{z}/{x}/{y}.png"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63fcff"
    "9fa11e000783027f3dc848ef0000000049454e44ae426082"
)


def test_tiles_that_come(start_town, browser):
    with start_town(tiles=TILES) as town:
        context = browser.new_context()
        page = context.new_page()
        page.route(
            re.compile("tiles.test"),
            lambda route: route.fulfill(body=PIXEL, content_type="image/png"),
        )
        page.goto(town.address)
        expect(page.locator(".leaflet-tile-loaded").first).to_be_attached()
        context.close()


def test_without_a_network_one_tile_is_tried_and_a_grid_drawn(start_town, browser):
    with start_town(tiles=TILES) as town:
        context = browser.new_context()
        page = context.new_page()
        tried, broken = [], []
        page.route(re.compile("tiles.test"), lambda route: (tried.append(1), route.abort()))
        page.on("pageerror", lambda error: broken.append(str(error)))
        page.goto(town.address)
        page.wait_for_selector(".live-map[data-ready]")
        page.get_by_role("button", name="Zoom in").click()
        expect(page.locator(".leaflet-tile")).to_have_count(0)
        assert of_map(page, "map.canvas.hasGrid")
        assert tried == [1]
        assert broken == []
        context.close()
