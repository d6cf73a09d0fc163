"""How quickly content comes, beside nginx with the same bytes as plain files."""

import json
import re
import socket
from urllib.parse import urlsplit

from .. import Failure
from ..commands import Command
from ..corpus.inputs import files
from ..figures import MEGABYTES, PER_SECOND, Findings, ratios
from ..service import Service, free_port, wait_for

_SECONDS = 3
_PROFILES = """
  small:
    based_on: notification
    image: {longest_side: 370}
    deadline: null
  kept:
    based_on: notification
    keeps_original: true
    deadline: null
"""
_COUNT = """
done = function(summary)
  local bad = summary.errors.status + summary.errors.connect + summary.errors.read
  print(string.format("counted %d %d %d %d", summary.duration, summary.requests, summary.bytes, bad))
end
"""
_NGINX = """
user root;
daemon off;
worker_processes auto;
pid {place}/pid;
error_log {place}/errors;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000000;
  types {{ image/jpeg jpg; audio/wav wav; }}
  server {{ listen 127.0.0.1:{port}; root {place}; }}
}}
"""


def measure(run):
    place, port = run.workplace.unique("nginx").absolute(), free_port()
    place.mkdir()
    (place / "nginx.conf").write_text(_NGINX.format(place=place, port=port))
    profiles = run.workplace.profiles("delivery", _PROFILES)
    with Service(run.workplace, "--set", f"profiles={profiles}", "--log-level", "error") as service:
        connection = service.connect()

        def offered(source, media_type, profile, role, name):
            """The path of a rendition on the service; nginx has the same bytes as a file of this name."""
            query = f"profile={profile}&lease_ttl=86400"
            job = json.loads(service.deliver(connection, source.read_bytes(), query, media_type).body)
            path = urlsplit(job["attachments"][0]["renditions"][role]["url"]).path
            (place / name).write_bytes(connection.get(path))
            return path, f"/{name}"

        small = offered(files(run.inputs.photographs(12))[0], "image/jpeg", "small", "main", "main.jpg")
        large = offered(run.inputs.silence(50_000_000), "audio/wav", "kept", "original", "original.wav")
        nginx = Command(["nginx", "-c", place / "nginx.conf", "-p", place]).start()
        requests, megabytes = ([], []), ([], [])
        try:
            wait_for("nginx", lambda: socket.create_connection(("127.0.0.1", port), 1).close())
            for _ in run.turns("delivery"):
                for index, at in enumerate((service.port, port)):
                    requests[index].append(ask(place, at, small[index], 32)[0])
                for index, at in enumerate((service.port, port)):
                    megabytes[index].append(ask(place, at, large[index], 2)[1] / 1e6)
        finally:
            nginx.terminate()
            nginx.wait()
    add = (findings := Findings("delivery")).add
    title = f"Content of {(place / 'main.jpg').stat().st_size // 1000} kB: requests a second, in terms of nginx's"
    add("small_ratio", title, ratios(*requests), at_least=0.5)
    add("small", "— requests a second", requests[0], PER_SECOND)
    add("small_peer", "— nginx's", requests[1], PER_SECOND)
    add("large_ratio", "Content of 50 MB: bytes a second, in terms of nginx's", ratios(*megabytes), at_least=0.9)
    add("large", "— megabytes a second", megabytes[0], MEGABYTES)
    add("large_peer", "— nginx's", megabytes[1], MEGABYTES)
    return findings


def ask(place, port, path, connections):
    """Requests and bytes a second, as wrk counts them of whole answers. `place` is a directory for its script."""
    (place / "count.lua").write_text(_COUNT)
    url = f"http://127.0.0.1:{port}{path}"
    text = Command(["wrk", "-t1", f"-c{connections}", f"-d{_SECONDS}s", "-s", place / "count.lua", url]).text()
    counted = re.search(r"^counted (\d+) (\d+) (\d+) (\d+)", text, re.MULTILINE)
    microseconds, requests, size, bad = map(int, counted.groups()) if counted else (0, 0, 0, 0)
    if not requests or bad:
        raise Failure(f"wrk {url}: not all requests were answered\n{text}")
    return requests / microseconds * 1e6, size / microseconds * 1e6
