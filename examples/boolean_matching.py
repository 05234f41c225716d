"""Who wants this message?  A broker, three subscriptions, and a person who moves.

Prints:
    'iPad sale, today only' reaches deals
    'Tea and cake, outside the old town' reaches nobody
    tea moves: enter 2
    'More tea' reaches tea
"""

import nearcast as nc


def main() -> None:
    broker = nc.Broker()
    old_town = nc.Circle(nc.Point(2.3522, 48.8566), 1500)  # metres
    broker.subscribe(nc.Subscription("deals", "ipad AND (discount OR sale)", old_town))
    broker.subscribe(nc.Subscription("tea", "tea AND NOT iced", old_town))
    broker.subscribe(nc.Subscription("noise", "concert", nc.Box(2.30, 48.80, 2.40, 48.84)))

    publish(broker, nc.Message(1, text="iPad sale, today only", at=nc.Point(2.355, 48.86)))

    garden = nc.Point(2.2530, 48.8624)
    publish(broker, nc.Message(2, text="Tea and cake, outside the old town", at=garden))
    for told in broker.move("tea", nc.Circle(garden, 500)):
        print(f"tea moves: {told.kind} {told.message_id}")
    publish(broker, nc.Message(3, text="More tea", at=garden))


def publish(broker: nc.Broker, message: nc.Message) -> None:
    names = [notification.subscription_id for notification in broker.publish(message)]
    print(f"{message.text!r} reaches {', '.join(map(str, names)) or 'nobody'}")


if __name__ == "__main__":
    main()
