import pytest

from nearcast.demo.loop import TICK_SECONDS, play


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self):
        self.now = 100.0
        self.waits = []

    def __call__(self):
        return self.now

    def wait(self, seconds):
        assert seconds >= 0
        self.waits.append(seconds)
        self.now += seconds


class Recorder:
    """A simulation and a display in one; a tick takes some time."""

    def __init__(self, clock, work=0.01, interrupt_at=None):
        self.clock, self.work, self.interrupt_at = clock, work, interrupt_at
        self.ticks, self.shown = 0, 0

    def tick(self):
        self.ticks += 1
        self.clock.now += self.work
        if self.ticks == self.interrupt_at:
            raise KeyboardInterrupt

    def show(self, simulation):
        assert simulation is self
        self.shown += 1


def played(seconds, **options):
    clock = Clock()
    recorder = Recorder(clock, **options)
    elapsed = play(recorder, recorder, seconds=seconds, clock=clock, wait=clock.wait)
    return recorder, elapsed


def test_it_ends_when_the_time_is_up():
    recorder, elapsed = played(2.0)
    assert recorder.ticks == recorder.shown == round(2.0 / TICK_SECONDS)
    assert elapsed == pytest.approx(2.0)


def test_work_does_not_slow_the_pace():
    recorder, _ = played(2.0, work=0.15)
    assert recorder.ticks == round(2.0 / TICK_SECONDS)


def test_who_is_too_slow_does_not_wait_and_does_not_catch_up():
    recorder, elapsed = played(3.0, work=1.0)
    assert recorder.ticks == 3
    assert set(recorder.clock.waits) == {0.0}
    assert elapsed == 3.0


def test_the_last_wait_is_no_longer_than_the_time_left():
    _, elapsed = played(0.25)
    assert elapsed == pytest.approx(0.25)


def test_ctrl_c_ends_it_in_order():
    recorder, _ = played(None, interrupt_at=5)
    assert recorder.ticks == 5
    assert recorder.shown == 4
