"""Where sources are fetched from: slowly, so that nodes break while they fetch, or not before it was told so."""
import http.server
import threading
import time
import urllib.parse

from history.network import HERE
from history.pictures import png

PIECES = 20


class Origin:
    """`/slow/SECONDS/NAME.png` takes so long; `/shut/NAME.png` is refused until `open(NAME)`."""

    def __init__(self, address=HERE):
        self.opened = set()
        origin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                kind, *words = urllib.parse.urlsplit(self.path).path.strip("/").split("/")
                name = words[-1].removesuffix(".png")
                if kind == "shut" and name not in origin.opened:
                    self.send_error(404)
                    return
                # As many bytes a second as a fetch needs.
                body = png(name, side=128 if kind == "slow" else 64)
                self.send_response(200)
                self.send_header("Content-Type", "image/png")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                pause = float(words[0]) / PIECES if kind == "slow" else 0
                size = len(body) // PIECES + 1
                try:
                    for start in range(0, len(body), size):
                        self.wfile.write(body[start:start + size])
                        time.sleep(pause)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.server.daemon_threads = True
        # Nodes that break leave in the middle.
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://{address}:{self.server.server_port}"

    def slow(self, name, seconds):
        return f"{self.url}/slow/{seconds}/{name}.png"

    def shut(self, name):
        return f"{self.url}/shut/{name}.png"

    def open(self, name):
        self.opened.add(name)
