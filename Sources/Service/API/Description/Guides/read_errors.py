#!/usr/bin/env python3
"""Submits a file and prints its result in one line: read_errors.py FILE, with SATCHEL_URL and SATCHEL_KEY set."""
import json
import os
import sys
import urllib.error
import urllib.request

request = urllib.request.Request(
    f"{os.environ['SATCHEL_URL']}/v1/jobs?identifier=file", open(sys.argv[1], "rb").read(),
    {"Authorization": f"Bearer {os.environ['SATCHEL_KEY']}", "Content-Type": "application/octet-stream", "Prefer": "wait=20"})
try:
    with urllib.request.urlopen(request) as answer:
        job = json.load(answer)
except urllib.error.HTTPError as error:
    # The call was rejected (RFC 9457), so no job exists.
    problem = json.load(error)
    sys.exit(f"{error.code} {problem['code']}: {problem['detail']}")

for attachment in job["attachments"]:
    error = attachment.get("error")
    if attachment["state"] in ("pending", "running"):
        print(f"{job['id']} is not finished yet: ask again later, or use a callback")
    elif error and error["retryable"]:
        # The service has already retried. Retrying later can help.
        print(f"{error['code']}: {error['message']} Try again later: POST /v1/jobs/{job['id']}/retry")
    elif error:
        # The same file will fail again. Show the message to its sender.
        print(f"{error['code']}: {error['message']}")
    elif attachment["fidelity"] != "full":
        # Something is missing that the profile would keep. The step 'fidelity' says what, and why.
        print("delivered, incomplete: " + "".join(step["note"] for step in attachment["steps"] if step["name"] == "fidelity"))
    else:
        print("delivered: " + ", ".join(sorted(attachment["renditions"])))
