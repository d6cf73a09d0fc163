"""What Satchel leaves to the shipped nginx: renditions with all that Satchel says of them, and nothing without a token."""

import contextlib
import http.client
import json
import pathlib
import tempfile
import time
import unittest

from deployment import ROOT, composed, variables
from test_nginx import fronted
from test_uploads import Service

PUBLIC_URL = "https://media.example.com"
SAMPLE = ROOT / "Media/jpeg/earth-12-megapixels.jpg"


def ask(port, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        answer.body = answer.read()
        return answer


class AcceleratedTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        services = composed("compose.nginx.yaml")["services"]
        cls.service = Service(place.name, variables(services["satchel"], {"SATCHEL_PUBLIC_URL": PUBLIC_URL}))
        cls.addClassCleanup(cls.service.stop)
        # As the volumes of the file have it: the renditions, and nothing else of the store.
        blobs = {"alias /var/lib/satchel/blobs/;": f"alias {place.name}/store/blobs/;"}
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.port, log = stack.enter_context(fronted("nginx.conf", [f"127.0.0.1:{cls.service.port}"], blobs))
        cls.log = staticmethod(log)

    def setUp(self):
        answer = ask(
            self.port, "POST", f"/v1/jobs?name={SAMPLE.name}", SAMPLE.read_bytes(), Authorization=f"Bearer {self.service.key}",
            Content_Type="image/jpeg", Prefer="wait=20")
        self.assertEqual(answer.status, 200, answer.body)
        self.attachment = json.loads(answer.body)["attachments"][0]
        self.main = self.attachment["renditions"]["main"]
        self.assertTrue(self.main["url"].startswith(PUBLIC_URL + "/c/"), self.main["url"])
        self.path = self.main["url"].removeprefix(PUBLIC_URL)

    def ask(self, method, path, **headers):
        return ask(self.port, method, path, **headers)

    def test_nginx_sends_the_bytes_with_all_that_satchel_says_of_them(self):
        straight = ask(self.service.port, "GET", self.path)
        self.assertIn("X-Accel-Redirect", straight.headers)
        self.assertEqual(straight.body, b"")
        content = self.ask("GET", self.path)
        self.assertEqual((content.status, len(content.body)), (200, self.main["bytes"]))
        wanted = {
            "Content-Type": [self.main["media_type"]], "Content-Disposition": ['inline; filename="main.jpg"'],
            "ETag": [f'"{self.main["sha256"]}"'], "Accept-Ranges": ["bytes"], "Last-Modified": [],
        }
        for name in ("Cache-Control", "Referrer-Policy", "X-Content-Type-Options", "Content-Security-Policy"):
            wanted[name] = [straight.headers[name]]
            self.assertIsNotNone(straight.headers[name], name)
        for name, values in wanted.items():
            self.assertEqual(content.headers.get_all(name, []), values, name)

    def test_nginx_sends_ranges_and_nothing_where_the_bytes_are_known(self):
        content = self.ask("GET", self.path)
        tag = content.headers["ETag"]
        piece = self.ask("GET", self.path, Range="bytes=100-199", If_Range=tag)
        self.assertEqual((piece.status, piece.body), (206, content.body[100:200]))
        whole = self.ask("GET", self.path, Range="bytes=100-199", If_Range='"another"')
        self.assertEqual((whole.status, whole.body), (200, content.body))
        same = self.ask("GET", self.path, If_None_Match=tag)
        self.assertEqual((same.status, same.body), (304, b""))
        head = self.ask("HEAD", self.path)
        self.assertEqual((head.status, head.headers["Content-Length"]), (200, str(self.main["bytes"])))

    def test_nobody_gets_them_without_a_token_that_is_good(self):
        blob = ask(self.service.port, "GET", self.path).headers["X-Accel-Redirect"]
        self.assertEqual(self.ask("GET", blob).status, 404)
        self.assertEqual(self.ask("GET", self.path).status, 200)
        lease = self.attachment["lease"]["id"]
        stopped = self.ask("DELETE", f"/v1/leases/{lease}", Authorization=f"Bearer {self.service.key}")
        self.assertEqual((stopped.status, self.ask("GET", self.path).status), (204, 404))

    def test_no_log_has_a_token_however_it_is_disguised(self):
        token = self.path.split("/")[2]
        for path in (self.path, f"/c/{token}", f"//c/{token}/main.jpg", f"/%63/{token}/main.jpg", f"/v1?x={token}",
                     f"/c/{token}/../{token}/x"):
            self.ask("GET", path)
        shown = f"/c/{token[:8]}…/main.jpg"
        # A line comes after its answer.
        end = time.monotonic() + 30
        while sum(token[:8] in line for line in self.log()) < 4 and time.monotonic() < end:
            time.sleep(0.01)
        lines = "\n".join(self.log())
        self.assertIn(shown, lines)
        said = pathlib.Path(self.service.home, "log").read_text(encoding="utf-8")
        for secret in (token, token[8:], self.service.key):
            self.assertNotIn(secret, lines + said)


if __name__ == "__main__":
    unittest.main()
