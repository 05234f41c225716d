from nearcast.service.delivery.pages import MOST_EVENTS
from tests.service.delivery.web import REFUSAL, Web, letters, put, status, wait_until


def counts(web):
    return web.service.deliveries.counts("ann", "cafe")


def test_after_the_last_attempt_events_are_parked_and_others_follow(hasty, make_receiver):
    ann, receiver = hasty.client("ann"), make_receiver(REFUSAL, REFUSAL, REFUSAL)
    put(ann, receiver)
    hasty.pipeline.match("ann", *"ab")
    for _ in range(3):
        receiver.next()
    wait_until(lambda: status(ann)["cursor"] == 2)
    hasty.pipeline.match("ann", "c")
    assert receiver.ids(1) == [3]
    found = letters(ann, webhook="hook")
    assert [(each["id"], each["reason"], each["attempts"]) for each in found] == [
        (1, "HTTP 500", 3),
        (2, "HTTP 500", 3),
    ]
    assert found[0]["event"]["message"]["properties"]["text"] == "a"
    assert not found[0]["wanted"]
    wait_until(lambda: counts(hasty) == (1, 2))
    assert letters(hasty.client("bob")) == []


def test_gone_is_for_good(hasty, make_receiver):
    ann, receiver = hasty.client("ann"), make_receiver((410, {}))
    put(ann, receiver)
    hasty.pipeline.match("ann", "a")
    [letter] = wait_until(lambda: letters(ann))
    assert (letter["reason"], letter["attempts"]) == ("HTTP 410", 1)


def test_parked_events_are_delivered_again_on_request(hasty, make_receiver):
    ann, receiver = hasty.client("ann"), make_receiver((410, {}))
    put(ann, receiver)
    hasty.pipeline.match("ann", *"abc")
    wait_until(lambda: len(letters(ann)) == 3)
    receiver.next()
    answer = ann.post("/v1/webhooks/hook/redeliver", json={"ids": [1, 3, 77]})
    assert (answer.status_code, answer.json()) == (202, {"redelivering": 2})
    headers, words = receiver.next()
    assert words["redelivered"] is True
    assert [event["id"] for event in words["events"]] == [1, 3]
    assert headers["webhook-id"].startswith("again-")
    wait_until(lambda: [letter["id"] for letter in letters(ann)] == [2])
    wait_until(lambda: counts(hasty) == (2, 3))
    receiver.answers.put(REFUSAL)
    assert ann.post("/v1/webhooks/hook/redeliver", json={}).json() == {"redelivering": 1}
    receiver.next()
    [letter] = wait_until(lambda: [each for each in letters(ann) if not each["wanted"]])
    assert (letter["id"], letter["reason"], letter["attempts"]) == (2, "HTTP 500", 2)
    hasty.pipeline.match("ann", "d")
    assert receiver.ids(1) == [4]  # once was enough: it stays parked
    assert counts(hasty)[1] == 3


def test_more_than_a_page_of_parked_events_is_delivered_again(hasty, make_receiver):
    ann, receiver = hasty.client("ann"), make_receiver(*[(410, {})] * 3)
    put(ann, receiver)
    count = MOST_EVENTS + 5
    hasty.pipeline.match("ann", *map(str, range(count)))
    wait_until(lambda: status(ann)["cursor"] == count)
    while not receiver.requests.empty():
        receiver.next()
    while not receiver.answers.empty():
        receiver.answers.get()
    ann.post("/v1/webhooks/hook/redeliver", json={})
    assert receiver.ids(count) == list(range(1, count + 1))
    wait_until(lambda: letters(ann) == [])


def test_a_gap_that_is_not_taken_is_parked_as_well(tmp_path, make_receiver):
    receiver = make_receiver((410, {}))
    web = Web(tmp_path / "data")
    web.service.deliveries.put_webhook("ann", "hook", receiver.url, begin=0)
    web.pipeline.match("ann", *"ab")
    web.pipeline.drop_all_but(1)
    with web:
        ann = web.client("ann")
        found = wait_until(lambda: letters(ann))
        assert [(each["id"], each["event"]["kind"]) for each in found] == [(1, "gap"), (2, "match")]


def test_dead_letters_come_in_pages(hasty, make_receiver):
    ann = hasty.client("ann")
    for name in "ab":
        put(ann, make_receiver((410, {}), (410, {})), name)
    hasty.pipeline.match("ann", *"xyz")
    wait_until(lambda: len(letters(ann)) == 6)
    found, after, pages = [], 0, 0
    while after is not None:
        page = ann.get("/v1/dead-letters", params={"after": after, "limit": 1}).json()
        found += [(each["id"], each["webhook"]) for each in page["dead_letters"]]
        after, pages = page["next"], pages + 1
    assert found == [(id, name) for id in (1, 2, 3) for name in "ab"]
    assert [each["id"] for each in letters(ann, webhook="b", after=1, limit=2)] == [2, 3]
