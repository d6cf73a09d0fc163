"""What is measured of notifications rests on: copies in a store's file, and who counts calls."""

import http.client
import sqlite3
import time
import unittest

from bench import Failure
from bench.__main__ import options
from bench.origins import EventReceiver
from bench.parts.notifications import copy


class StoreTests(unittest.TestCase):
    def test_copies_are_notifications_of_their_own_whatever_columns_there_are(self):
        for count in (1, 2, 5):
            records = sqlite3.connect(":memory:")
            records.execute("CREATE TABLE notifications (key INTEGER PRIMARY KEY, id TEXT UNIQUE, more TEXT, next_at INTEGER, record TEXT)")
            records.execute("""INSERT INTO notifications VALUES (7, 'first', 'kept', 100, '{"id":"first","tag":"first class"}')""")
            copy(records, count)
            rows = records.execute("SELECT id, more, next_at, record FROM notifications ORDER BY next_at").fetchall()
            names = ["first", *(f"p{number}" for number in range(1, count))]
            self.assertEqual(
                rows, [(name, "kept", 100 + n, f'{{"id":"{name}","tag":"first class"}}') for n, name in enumerate(names)])

    def test_how_many_are_pending_is_said_on_the_command_line(self):
        self.assertIsNone(options([]).pending)
        self.assertEqual(options(["--pending", "2000"]).pending, 2000)


class ReceiverTests(unittest.TestCase):
    def test_a_receiver_answers_on_one_connection_each_after_its_time_and_counts(self):
        receiver = EventReceiver(0.02)
        self.assertRaisesRegex(Failure, "0 of 2 calls", receiver.wait_for, 2, 0)
        connection = http.client.HTTPConnection(receiver.address.removeprefix("http://"))
        self.addCleanup(connection.close)
        for _ in range(2):
            start = time.monotonic()
            connection.request("POST", "/hook", b"{}")
            self.assertEqual(connection.getresponse().read(), b"")
            self.assertGreaterEqual(time.monotonic() - start, 0.02)
        receiver.wait_for(2, 1)
