"""The panel of moving subscriptions in a real browser: people walk, messages enter and leave."""

from playwright.sync_api import expect

from nearcast.model import MovingSubscription
from tests.service.page.driving import field, of_map, owner_at, press, wait_for

WALKS = ".walk"


def test_people_walk_and_messages_enter_and_leave(town, open_page, tmp_path):
    page = open_page(town.address)
    page.get_by_role("tab", name="Moving").click()
    press(page, "Send them out")
    expect(page.locator("form")).to_contain_text("no words yet; type at least one")
    field(page, "Words").fill("coffee")
    field(page, "People").fill("2")
    press(page, "Send them out")
    expect(page.locator(WALKS)).to_have_count(2)
    expect(page.locator(WALKS).first).to_contain_text("coffee · 500 m around")
    owner = owner_at(page)
    found = town.service.subscriptions.get(owner, "walker 1")
    assert isinstance(found.subscription, MovingSubscription)
    assert found.expires is not None

    def place():
        return town.service.subscriptions.get(owner, "walker 1").subscription.region.centre

    begin = place()
    wait_for(lambda: place() != begin)  # they walk by themselves
    wait_for(lambda: of_map(page, "map.shapes.length") == 2)
    page.get_by_role("switch", name="Walk").click()  # and stand still
    town.rank()
    items = page.locator(f"{WALKS} li")
    expect(items.first).to_contain_text("fresh coffee and cake")
    there = place()
    town.rank("Coffee <here>", at=(there.lon, there.lat))
    expect(page.locator(f"{WALKS} li.entered").first).to_contain_text("Coffee <here>")
    page.screenshot(path=tmp_path / "moving.png")

    away = found.subscription.region.centre.lon + 1
    town.move(owner, "walker 1", (away, there.lat), 500)
    expect(page.locator(f"{WALKS} li.left").first).to_be_visible()
    page.locator(f"{WALKS} li button").first.click()
    expect(page.locator(".why")).to_contain_text("offee")
    page.keyboard.press("Escape")
    for name in ("walker 1", "walker 2"):
        press(page, f"Remove {name}")
    expect(page.locator(WALKS)).to_have_count(0)
