"""Uses a running service by the client that was generated of its description: every kind of body, and what comes back.

use.py URL ROOT
"""

import functools
import http.server
import io
import json
import os
import pathlib
import sys
import threading
import uuid

import satchel_client.models as models
from satchel_client import AuthenticatedClient
from satchel_client.api.access import start_lease, stop_lease
from satchel_client.api.attachments import list_attachments
from satchel_client.api.content import get_content
from satchel_client.api.jobs import follow_job, get_job, list_jobs, put_job, submit_job
from satchel_client.api.operation import ready
from satchel_client.api.payloads import enrich_payload
from satchel_client.api.profiles import list_profiles
from satchel_client.types import File

url, root = sys.argv[1], pathlib.Path(sys.argv[2])
photo = root / "Media/png/alpha.png"
# An answer that the client can't read is an error, not nothing.
client = AuthenticatedClient(
    base_url=url, token=os.environ["SATCHEL_KEY"], raise_on_unexpected_status=True, timeout=60)
stranger = AuthenticatedClient(base_url=url, token="nonsense", raise_on_unexpected_status=True, timeout=60)


def served(directory):
    """Where files of a directory can be fetched from."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=directory))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def json_body():
    origin = served(photo.parent)
    attachment = models.AttachmentRequest(identifier="photo", url=f"{origin}/{photo.name}")
    return models.JobRequest(attachments=[attachment])


def multipart_body():
    body = models.JobUpload(job=models.JobRequest(attachments=[models.AttachmentRequest(identifier="photo", part="a")]))
    body["a"] = File(io.BytesIO(photo.read_bytes()), photo.name, "image/png")
    return body


def raw_body():
    return File(io.BytesIO(photo.read_bytes()))


def deliver(make):
    """Submits a body by both calls; the two jobs."""
    prefer = "wait=30"
    # Only beside a raw body the options are in the query.
    options = {"identifier": "photo"} if make is raw_body else {}
    jobs = [
        submit_job.sync_detailed(client=client, body=make(), prefer=prefer, idempotency_key=str(uuid.uuid4()), **options),
        put_job.sync_detailed(f"{make.__name__}-1", client=client, body=make(), prefer=prefer, **options),
    ]
    for answer in jobs:
        job = answer.parsed
        assert isinstance(job, models.Job), job
        assert answer.status_code == 200 and job.state == models.WorkState.DELIVERED, job
        attachment = job.attachments[0]
        assert attachment.identifier == "photo" and attachment.fidelity == models.Fidelity.FULL, attachment
    return jobs[1].parsed


for make in (json_body, multipart_body, raw_body):
    job = deliver(make)
    assert get_job.sync(job.id, client=client).to_dict() == job.to_dict()
    events = follow_job.sync(job.id, client=client)
    assert "event: finished" in events, events

jobs = list_jobs.sync(client=client, state=models.WorkState.DELIVERED)
assert len(jobs.jobs) == 6, len(jobs.jobs)
assert len(list_attachments.sync(client=client).attachments) == 6
assert "notification" in [profile.name for profile in list_profiles.sync(client=client).profiles]
assert ready.sync(client=client).ready

attachment = job.attachments[0]
lease = start_lease.sync(client=client, body=models.LeaseRequest(attachment_id=str(attachment.id), ttl=60))
main = lease.renditions["main"]
token, name = main.url.split("/")[-2:]
content = get_content.sync(token, name, client=client)
assert len(content.payload.read()) == main.bytes_, name
assert stop_lease.sync_detailed(lease.id, client=client).status_code == 204
ended = get_content.sync_detailed(token, name, client=client)
assert ended.status_code == 404 and isinstance(ended.parsed, models.Problem), ended

payload = models.EnrichPayloadBody.from_dict({"aps": {"alert": "text"}})
assert enrich_payload.sync(client=client, body=payload).to_dict()["aps"] == {"alert": "text"}

# An error is a problem, whatever it was that went wrong.
for problem, code in [
    (get_job.sync("nothing", client=client), "not_found"),
    (submit_job.sync(client=client, body=models.JobRequest(attachments=[])), "invalid_request"),
    (submit_job.sync(client=client, body=raw_body(), crop="sideways"), "invalid_request"),
    (list_jobs.sync(client=stranger), "unauthorized"),
]:
    assert isinstance(problem, models.Problem) and problem.code == code, problem

for used in (client, stranger):
    used.get_httpx_client().close()

# One class for each value of the description, and few for what is inside one.
with open(root / "Sources/Service/API/Description/openapi.json", encoding="utf-8") as file:
    schemas = json.load(file)["components"]["schemas"]
values = {name for name, schema in schemas.items() if schema.get("type") == "object" or "enum" in schema}
assert values <= set(models.__all__), values - set(models.__all__)
made = [name for name in models.__all__ if "Problem" in name]
assert made == ["Problem", "ProblemField"], made
assert len(models.__all__) < 2 * len(values), (len(models.__all__), len(values))
print(f"{len(models.__all__)} models of {len(values)} values, 3 kinds of bodies, 6 jobs delivered.")
