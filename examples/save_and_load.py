"""Stop and go on: a broker in one file, checked when it is read and mapped rather than copied.

Prints:
    loaded 2 subscriptions
    message 1 reaches tea
    half a file is refused: broker.near is ...
"""

import tempfile
from pathlib import Path

import nearcast as nc
from nearcast.storage import BadFile


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "broker.near"
        save(path)
        load(path)
        cut(path)


def save(path: Path) -> None:
    broker = nc.Broker()
    broker.subscribe(nc.Subscription("tea", "tea", nc.Box(2, 48, 3, 49)))
    broker.subscribe(nc.Subscription("cake", "cake"))
    broker.save(path)


def load(path: Path) -> None:
    broker = nc.Broker.load(path)
    print(f"loaded {len(broker)} subscriptions")
    broker.unsubscribe("cake")  # the file stays as it is
    for notification in broker.publish(nc.Message(1, text="tea and cake", at=nc.Point(2, 48))):
        print(f"message {notification.message_id} reaches {notification.subscription_id}")


def cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    try:
        nc.Broker.load(path)
    except BadFile as error:
        print(f"half a file is refused: {error}".replace(str(path), path.name))


if __name__ == "__main__":
    main()
