#!/usr/bin/env python3
"""Copies what is in one place into another, as `aws s3 sync` does, which isn't installed for tests.

    Tests/Support/s3/sync.py FROM TO

One of them is s3://BUCKET/PREFIX, the other a directory. What is there already and as large is left.
"""
import os
import pathlib
import sys
import urllib.parse

import botocore.config
import botocore.session

# What newer ones add to each request isn't known to every server.
os.environ["AWS_REQUEST_CHECKSUM_CALCULATION"] = "when_required"
client = botocore.session.get_session().create_client(
    "s3", region_name=os.environ["AWS_REGION"], endpoint_url=os.environ["AWS_ENDPOINT_URL_S3"],
    config=botocore.config.Config(s3={"addressing_style": "path"}))


class Bucket:
    def __init__(self, url):
        self.name, self.prefix = url.netloc, url.path.strip("/") + "/"

    def sizes(self):
        found, more = {}, {}
        while True:
            page = client.list_objects_v2(Bucket=self.name, Prefix=self.prefix, **more)
            found.update({item["Key"].removeprefix(self.prefix): item["Size"] for item in page.get("Contents", ())})
            if not page["IsTruncated"]:
                return found
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def read(self, name):
        return client.get_object(Bucket=self.name, Key=self.prefix + name)["Body"].read()

    def write(self, name, content):
        client.put_object(Bucket=self.name, Key=self.prefix + name, Body=content)


class Directory:
    def __init__(self, path):
        self.path = pathlib.Path(path)

    def sizes(self):
        return {str(file.relative_to(self.path)): file.stat().st_size for file in self.path.rglob("*") if file.is_file()}

    def read(self, name):
        return (self.path / name).read_bytes()

    def write(self, name, content):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_bytes(content)


def place(text):
    url = urllib.parse.urlsplit(text)
    return Bucket(url) if url.scheme == "s3" else Directory(text)


source, target = map(place, sys.argv[1:])
known = target.sizes()
for name, size in source.sizes().items():
    if known.get(name) != size:
        target.write(name, source.read(name))
