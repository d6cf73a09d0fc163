"""Ceph's gateway, and the proxy before it."""
import datetime
import hashlib
import hmac
import json
import pathlib
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

SUPPORT = pathlib.Path(__file__).resolve().parents[2] / "Support"
NAME, PREFIX, PORT = "satchel", "history/", 9000


class Bucket:
    def __init__(self, place, directory):
        self.gateway = subprocess.Popen(
            place.command(SUPPORT / "s3/gateway.sh", directory, NAME), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.gateway.stdout.readline().strip() != "ready":
            raise SystemExit("Ceph's gateway didn't come up")
        words = (directory / "env").read_text().replace("export", "").split()
        self.keys = dict(word.split("=", 1) for word in words)
        self.address = f"{place.address}:{PORT}"
        upstream = urllib.parse.urlsplit(self.keys.pop("AWS_ENDPOINT_URL_S3")).port
        self.proxy = subprocess.Popen(
            place.command(sys.executable, "-B", pathlib.Path(__file__).with_name("fault_proxy.py"), place.address, PORT, upstream),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.proxy.stdout.readline()
        # It goes down in a moment.
        self.warning = threading.Event()

    @property
    def environment(self):
        return {
            **self.keys, "SATCHEL_BLOBS": f"s3://{NAME}/{PREFIX}", "SATCHEL_S3_ENDPOINT": f"http://{self.address}",
            "SATCHEL_S3_PATH_STYLE": "true"}

    def fault(self, fault=None):
        self.proxy.stdin.write(json.dumps(fault or {}) + "\n")
        self.proxy.stdin.flush()

    def objects(self):
        """All that is there: names without the prefix, and their sizes."""
        found, after = {}, ""
        while True:
            query = {"list-type": "2", "max-keys": "1000", "prefix": PREFIX, **({"start-after": after} if after else {})}
            page = xml.etree.ElementTree.fromstring(self.get(query))
            for element in page.iter():
                element.tag = element.tag.rpartition("}")[2]
            keys = [(item.findtext("Key"), int(item.findtext("Size"))) for item in page.iter("Contents")]
            found.update((key.removeprefix(PREFIX), size) for key, size in keys)
            if page.findtext("IsTruncated") != "true":
                return found
            after = keys[-1][0]

    def read(self, name):
        """An object's bytes; None where it isn't there."""
        try:
            return self.get({}, "/" + urllib.parse.quote(PREFIX + name))
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            return None

    def get(self, query, path=""):
        """A signed request for an object, or the bucket itself."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        line = "&".join(f"{key}={urllib.parse.quote(value, safe='-_.~')}" for key, value in sorted(query.items()))
        empty, region = hashlib.sha256(b"").hexdigest(), self.keys["AWS_REGION"]
        headers = {"host": self.address, "x-amz-content-sha256": empty, "x-amz-date": now}
        names = ";".join(headers)
        canonical = "\n".join(["GET", f"/{NAME}{path}", line, *(f"{key}:{value}" for key, value in headers.items()), "", names, empty])
        scope = f"{now[:8]}/{region}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = b"AWS4" + self.keys["AWS_SECRET_ACCESS_KEY"].encode()
        for word in (*scope.split("/"), text):
            key = hmac.digest(key, word.encode(), "sha256")
        headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.keys['AWS_ACCESS_KEY_ID']}/{scope}, SignedHeaders={names}, Signature={key.hex()}")
        request = urllib.request.Request(f"http://{self.address}/{NAME}{path}{'?' if line else ''}{line}", headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()
