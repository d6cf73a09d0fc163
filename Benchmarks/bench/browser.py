"""Chromium without a window, driven through ChromeDriver by WebDriver's own JSON (https://www.w3.org/TR/webdriver2/)."""

import json
import shutil

from .commands import Command
from .service import Connection, free_port, refuse, wait_for

_ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]


class Browser:
    """A browser with a profile of its own."""

    @staticmethod
    def is_there():
        return shutil.which("chromedriver") is not None

    def __init__(self):
        port = free_port()
        self.driver = Command(["chromedriver", f"--port={port}", "--log-level=SEVERE"]).start()
        self.connection = Connection(port)
        try:
            wait_for("chromedriver", lambda: self.connection.get("/status"))
            capabilities = {"browserName": "chrome", "goog:chromeOptions": {"args": _ARGUMENTS}}
            self.session = self._post("/session", capabilities={"alwaysMatch": capabilities})["sessionId"]
        except BaseException:
            self.driver.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.send("DELETE", f"/session/{self.session}")
        self.driver.terminate()
        self.driver.wait()

    def _post(self, path, **members):
        answer = self.connection.send("POST", path, {"Content-Type": "application/json"}, json.dumps(members))
        return json.loads(answer.body)["value"] if answer.status == 200 else refuse("POST", path, answer)

    def first_paint(self, url):
        """Milliseconds from the beginning of the navigation to when something of a page was first shown: Paint Timing
        (https://www.w3.org/TR/paint-timing/)."""
        self._post(f"/session/{self.session}/url", url=url)
        script = """
            const done = arguments[0]
            new PerformanceObserver(paints => done(paints.getEntries()[0].startTime)).observe({type: "paint", buffered: true})
            """
        return self._post(f"/session/{self.session}/execute/async", script=script, args=[])
