"""Producers and a subscriber over AMQP: each has a connection, sends again what was not confirmed, and keeps a ledger."""

import collections
import datetime
import json
import math
import random
import threading

import pika

from .stack import PREFIX


class Ledger:
    """Every message that a broker confirmed, once, with what must become of it."""

    def __init__(self):
        self.lock, self.sent, self.copies = threading.Lock(), {}, 0
        self.created = collections.Counter()

    def add(self, message):
        with self.lock:
            if (message.source, message.id) in self.sent:
                self.copies += 1
            self.sent[(message.source, message.id)] = message

    def expected(self):
        return collections.Counter(message.expected for message in self.sent.values())


class Line:
    """A connection that is made again until it works."""

    def __init__(self, port, user, password, over):
        self.port, self.user, self.over, self.channel = port, user, over, None
        self.given = pika.PlainCredentials(user, password)

    def open(self):
        while not self.over.is_set():
            try:
                connection = pika.BlockingConnection(pika.ConnectionParameters(
                    "127.0.0.1", self.port, "/", self.given, heartbeat=20, blocked_connection_timeout=20, socket_timeout=5))
                self.channel = connection.channel()
                self.channel.confirm_delivery()
                return
            except (pika.exceptions.AMQPError, OSError):
                self.over.wait(0.3)

    def publish(self, message):
        """Until it is confirmed; False when everything is over."""
        while not self.over.is_set():
            try:
                if self.channel is None:
                    self.open()
                    continue
                self.channel.basic_publish(
                    f"{PREFIX}.ingest", message.route, message.body, mandatory=True,
                    properties=pika.BasicProperties(content_type="application/json", delivery_mode=2, message_id=message.id, user_id=self.user,
                                                    headers=message.headers))
                return True
            except (pika.exceptions.AMQPError, OSError):
                self.channel = None
        return False

    def idle(self):
        """Heartbeats."""
        if self.channel is not None:
            try:
                self.channel.connection.process_data_events(0)
            except (pika.exceptions.AMQPError, OSError):
                self.channel = None

    def close(self):
        try:
            if self.channel is not None:
                self.channel.connection.close()
        except (pika.exceptions.AMQPError, OSError):
            pass


class Producer(threading.Thread):
    """Sends at the rates of `shape(local hour)`: messages of each kind for an hour of the clock."""

    def __init__(self, writer, stack, ledger, shape, zone, again=0.02, scale=1.0):
        super().__init__(daemon=True)
        self.writer, self.stack, self.ledger, self.shape, self.zone = writer, stack, ledger, shape, zone
        self.again, self.scale, self.over, self.closed = again, scale, threading.Event(), threading.Event()
        self.random = random.Random(writer.org.name)
        self.extra = collections.deque()

    def also(self, *messages):
        self.extra.extend(messages)

    def local_hour(self):
        at = datetime.datetime.fromtimestamp(self.stack.clock.now(), self.zone)
        return at.hour + at.minute / 60

    def run(self):
        line = Line(self.stack.broker_port, self.writer.org.name, self.stack.passwords[self.writer.org.name], self.closed)
        last = self.stack.clock.now()
        while not self.over.wait(0.2):
            now = self.stack.clock.now()
            hours, last = (now - last) / 3600, now
            for kind, rate in self.shape(self.local_hour()).items():
                for _ in range(poisson(self.random, rate * self.scale * hours)):
                    message = self.writer.chat() if kind == "chat" else getattr(self.writer, kind)() if hasattr(self.writer, kind) else self.writer.document(kind)
                    self.send(line, message)
            while self.extra:
                self.send(line, self.extra.popleft())
            line.idle()
        while self.extra:
            self.send(line, self.extra.popleft())
        line.close()

    def send(self, line, message):
        if line.publish(message):
            self.ledger.add(message)
            # A producer that was not sure sends again.
            if self.random.random() < self.again and line.publish(message):
                self.ledger.add(message)

    def stop(self, patience=20):
        self.over.set()
        self.join(patience)
        self.closed.set()
        self.join(5)


def poisson(draws, mean):
    if mean > 30:
        return max(0, round(draws.gauss(mean, math.sqrt(mean))))
    count, product, limit = 0, draws.random(), math.exp(-mean)
    while product > limit:
        count, product = count + 1, product * draws.random()
    return count


class Subscriber(threading.Thread):
    """Reads every event from a separate queue: types, ids, and which documents are indexed."""

    QUEUE = "live.subscriber"

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.over, self.bound = port, threading.Event(), threading.Event()
        self.types, self.ids, self.again, self.indexed = collections.Counter(), set(), 0, {}

    def run(self):
        line = Line(self.port, "guest", "guest", self.over)
        while not self.over.is_set():
            line.open()
            if line.channel is None:
                return
            try:
                line.channel.queue_declare(self.QUEUE, durable=True)
                line.channel.queue_bind(self.QUEUE, f"{PREFIX}.events", "#")
                line.channel.basic_qos(prefetch_count=500)
                self.bound.set()
                for frame, properties, body in line.channel.consume(self.QUEUE, inactivity_timeout=0.5):
                    if frame is not None:
                        self.take(properties, body)
                        line.channel.basic_ack(frame.delivery_tag)
                    if self.over.is_set():
                        line.close()
                        return
            except (pika.exceptions.AMQPError, OSError):
                self.over.wait(0.3)

    def take(self, properties, body):
        headers = properties.headers or {}
        identity = headers.get("cloudEvents_id") or headers.get("cloudEvents:id") or properties.message_id
        kind = str(headers.get("cloudEvents_type") or headers.get("cloudEvents:type") or "").removeprefix("anamnesis.").removesuffix(".v1")
        if identity in self.ids:
            self.again += 1
            return
        self.ids.add(identity)
        self.types[kind] += 1
        if kind == "document.indexed":
            data = json.loads(body)
            data = data.get("data", data)
            self.indexed[data.get("document_id")] = self.indexed.get(data.get("document_id"), 0) + 1

    def stop(self):
        self.over.set()
        self.join(10)
