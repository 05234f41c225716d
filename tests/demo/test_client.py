import pytest

from nearcast.demo.client import Client, Refused
from nearcast.model import Box, Circle, Message, Point, Subscription


@pytest.fixture
def ann(service):
    return Client(service.address, "secret of ann")


def test_subscriptions_are_features_a_line_each(service, ann):
    ann.subscribe(
        [
            Subscription("tea", "tea", Circle(Point(1, 2), 50)),
            Subscription("cake", "cake", Box(1, 2, 3, 4)),
        ]
    )
    assert service.subscriptions["ann"]["tea"]["properties"] == {"keywords": "tea", "radius": 50.0}
    assert service.subscriptions["ann"]["cake"]["bbox"] == [1, 2, 3, 4]


def test_messages_are_of_the_time_of_publishing(service, ann):
    said = [Message(f"a-{i}", text="tea", at=Point(1, 2), time=0.0) for i in range(3)]
    assert ann.publish(said, now=17.5) == 3
    assert [each["id"] for each in service.messages] == ["a-0", "a-1", "a-2"]
    assert {each["properties"]["time"] for each in service.messages} == {17.5}


def test_a_webhook_of_an_earlier_run_is_replaced(service, ann):
    service.webhooks["ann"] = "http://gone/"
    assert ann.create_webhook("demo", "http://here/") == ("whsec_c2VjcmV0", 0)
    assert service.asked == [
        ("DELETE", "/v1/webhooks/demo", "ann"),
        ("PUT", "/v1/webhooks/demo", "ann"),
    ]
    ann.remove_webhook("demo")
    ann.remove_webhook("demo")  # there is none
    assert service.webhooks == {}


def test_a_refusal_is_told_in_one_line(ann):
    with pytest.raises(Refused, match=r'GET /v1/dance: 400: {"error": "what\?"}'):
        ann._ask("GET", "/v1/dance")
