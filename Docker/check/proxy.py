"""nginx with the configuration of compose.nginx.yaml, in front of a service on this machine."""

import contextlib
import os
import subprocess
import time

from service import ask


def write(source, home, places):
    """Copies the configuration and what it includes into a directory, with only its places changed; each is there once."""
    texts = {}
    for name in [os.path.basename(source), "http.conf", "locations.conf", "bucket.conf"]:
        with open(f"{os.path.dirname(source)}/{name}", encoding="utf-8") as file:
            # Temporary files beside, for /tmp is everybody's here.
            texts[name] = file.read().replace(" /tmp/", f" {home}/")
    texts["nginx.conf"] = texts.pop(os.path.basename(source))
    for old, new in places.items():
        if sum(text.count(old) for text in texts.values()) != 1:
            raise SystemExit(f"{source}: '{old}' should be there once")
        texts = {name: text.replace(old, new) for name, text in texts.items()}
    for name, text in texts.items():
        with open(f"{home}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    return f"{home}/nginx.conf"


@contextlib.contextmanager
def nginx(source, directory, user, blobs, upstream, port):
    """Runs it as the user who owns the store; answers the log's path."""
    uid, gid = (int(part) for part in user.split(":"))
    home = f"{directory}/nginx"
    os.mkdir(home)
    os.chown(home, uid, gid)
    configuration = write(source, home, {
        "alias /var/lib/satchel/blobs/;": f"alias {blobs}/;", "server satchel:8080;": f"server {upstream};",
        "listen 8080;": f"listen 127.0.0.1:{port};",
    })
    with open(f"{home}/log", "w", encoding="utf-8") as log:
        os.chown(log.name, uid, gid)
        command = [
            "setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs", "--bounding-set=-all",
            "nginx", "-c", configuration, "-e", f"{home}/errors", "-g", "daemon off;",
        ]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                ask(port, "GET", "/livez")
                break
            if process.poll() is not None or time.monotonic() > end:
                with open(f"{home}/log", encoding="utf-8") as file:
                    raise SystemExit(f"nginx doesn't start:\n{file.read()}")
            time.sleep(0.05)
        yield f"{home}/log"
    finally:
        process.terminate()
        process.wait()
