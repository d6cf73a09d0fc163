"""What opens something is in no log of the shipped nginx, whatever becomes of the request."""

import contextlib
import http.client
import json
import socket
import tempfile
import time
import unittest
import urllib.parse

from deployment import satchel
from test_nginx import CONFIGURATIONS, fronted
from test_uploads import Service


def send(port, method, path, headers=None, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with contextlib.closing(connection):
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        answer.read()
        return answer.status, dict(answer.getheaders())


def raw(port, text):
    """What no client of good manners sends."""
    with socket.create_connection(("127.0.0.1", port), 30) as client, contextlib.suppress(OSError):
        client.sendall(text.encode())
        while client.recv(65536):
            pass


class CanaryTests(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.service = Service(place.name)
        self.addCleanup(self.service.stop)

    def code(self):
        told = satchel("console", environment=self.service.environment).stdout
        url = next(word for word in told.split() if "/console/sign-in?" in word)
        return urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["code"][0]

    def requests(self, cookie):
        """With the status that each has while the service runs."""
        key, code, stale = self.service.key, self.code(), self.code()
        ticket = self.service.open(length=5)[1].rsplit("/", 1)[1]
        made_up = {kind: f"sat{kind}_" + "0123456789" * 4 for kind in "lrpcu"}
        bearer, signed_in = {"Authorization": f"Bearer {key}"}, {"Cookie": f"satchel={cookie}"}
        form = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
        secrets = [key, code, stale, ticket, cookie, *made_up.values()]
        return secrets, [
            (200, "GET", "/v1/jobs", bearer, None),
            (200, "GET", "/console/jobs", signed_in, None),
            (404, "GET", "/console/jobs/none/events", signed_in, None),
            (303, "GET", f"/console/sign-in?code={code}", {}, None),
            (403, "GET", f"/console/sign-in?code={made_up['c']}", {}, None),
            (303, "POST", "/console/sign-in", form, f"key={key}"),
            (403, "POST", "/console/sign-in", {**form, "Sec-Fetch-Site": "cross-site"}, f"key={key}&code={stale}"),
            (200, "PUT", f"/u/{ticket}", {}, "hello"),
            (200, "HEAD", f"/u/{ticket}", {"Tus-Resumable": "1.0.0"}, None),
            (404, "GET", f"/u/{made_up['u']}?again={ticket}", {}, None),
            (404, "POST", f"/r/{made_up['r']}", {"Content-Type": "application/json"}, "{}"),
            (404, "GET", f"/p/{made_up['p']}", {}, None),
            (404, "GET", f"/c/{made_up['l']}/main.jpg", {}, None),
        ]

    def test_no_cookie_code_ticket_or_key_is_in_a_log_of_nginx(self):
        for name in CONFIGURATIONS:
            with self.subTest(name):
                self.check(name)

    def check(self, configuration):
        with fronted(configuration, [f"127.0.0.1:{self.service.port}"]) as (port, log):
            _, headers = send(port, "GET", f"/console/sign-in?code={self.code()}")
            cookie = headers["Set-Cookie"].split(";")[0].split("=", 1)[1]
            self.assertGreater(len(cookie), 40)
            secrets, requests = self.requests(cookie)
            for status, *request in requests:
                self.assertEqual(send(port, *request)[0], status, request[:2])
            raw(port, f"GET /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: {self.service.key}{'x' * 80_000}\r\n\r\n")
            raw(port, f"GET /v1/jobs HTTP/9.9\r\nCookie satchel={cookie}\r\n\r\n")
            # Lines of the log of errors hold whole request lines: there is nobody behind.
            self.service.kill()
            try:
                for _, *request in requests:
                    self.assertIn(send(port, *request)[0], (502, 504), request[:2])
                count, end = 2 * len(requests) + 1, time.monotonic() + 30
                while sum(line.startswith("{") for line in log()) < count and time.monotonic() < end:
                    time.sleep(0.02)
                lines = log()
            finally:
                self.service.start()
        paths = [json.loads(line)["path"] for line in lines if line.startswith("{")]
        self.assertGreaterEqual(len(paths), count)
        self.assertIn("/console/sign-in", paths)
        self.assertTrue(any("[error]" in line and "GET /v1/jobs" in line for line in lines), "nothing went wrong")
        for secret in secrets:
            # What is shown of a token is its first 8 characters; a cookie has no such part.
            shown = secret[8:] if secret.startswith("sat") else secret
            self.assertFalse([line for line in lines if shown in line], f"{secret[:8]}…")


if __name__ == "__main__":
    unittest.main()
