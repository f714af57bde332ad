"""A wall clock that may run faster than the machine's. Only processes that are started with `Clock.environment` see it."""

import datetime
import time


class Clock:
    """Starts at `start` (seconds since 1970) and runs `factor` times as fast as the machine's clock."""

    def __init__(self, start=None, factor=1, library=""):
        self.real = time.time()
        self.start = self.real if start is None else start
        self.factor = factor
        self.library = library

    def now(self):
        return self.instant_at(time.time())

    def instant_at(self, real):
        """The instant of this clock at an instant of the machine's."""
        return self.start + (real - self.real) * self.factor

    def real_of(self, instant):
        return self.real + (instant - self.start) / self.factor

    def text(self, instant=None):
        """RFC 3339, in UTC."""
        at = datetime.datetime.fromtimestamp(self.now() if instant is None else instant, datetime.UTC)
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def environment(self):
        """What a process needs that shall see this clock. Timers of the program follow the monotonic clock, which stays."""
        if self.factor == 1:
            return {}
        at = datetime.datetime.fromtimestamp(self.now(), datetime.UTC)
        return {
            "LD_PRELOAD": self.library,
            "FAKETIME": f"@{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d} x{self.factor:g}",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # Ages of files are the machine's.
            "NO_FAKE_STAT": "1",
            "TZ": "UTC",
        }

    def expression(self):
        """PromQL for this clock's present, where Prometheus lives in the machine's."""
        return f"({self.start:.3f} + (time() - {self.real:.3f}) * {self.factor:g})"
