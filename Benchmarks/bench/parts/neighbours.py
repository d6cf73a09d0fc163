"""Whether costly sources hold up small ones, and one tenant's flood of bulk work and origins that never answer another's
photographs: the latency of one client's submissions alone, and beside them."""

from ..corpus.inputs import files
from ..figures import MILLISECONDS, SECONDS, Findings, percentile, ratios
from ..origins import SlowOrigin
from ..service import Service, refuse, unlike

_PICTURES, _VIDEOS = 300, 12
_PHOTOGRAPHS, _FLOOD, _SILENT, _PAYLOADS = 100, 400, 200, 20


def _findings(part, title, alone_title, beside_title, alone, beside, limit):
    findings = Findings(part)
    findings.add("ratio", f"{title}: p99 of their latency in terms of that alone", ratios(beside, alone), at_most=limit)
    findings.add("alone", f"— p99 of {alone_title}", alone, MILLISECONDS)
    findings.add("beside", f"— p99 beside {beside_title}", beside, MILLISECONDS)
    return findings


def _latency(service, bodies):
    """Milliseconds: over one client's submissions."""
    return percentile(0.99, service.deliver_all(1, bodies)[0]) * 1000


def _accepted(answer):
    if answer.status != 202:
        refuse("POST", "/v1/jobs", answer)


def measure_lanes(run):
    bodies = [file.read_bytes() for file in files(run.inputs.small_pictures(_PICTURES * 2))]
    video = run.inputs.large_video().read_bytes()
    alone, beside = [], []
    for _ in run.turns("small pictures beside 4K videos", most=3):
        with Service(run.workplace) as service:
            alone.append(_latency(service, bodies[:_PICTURES]))
            # More of them than are carried out meanwhile; each cut differently, so that none is the same work as another.
            for index in range(_VIDEOS):
                query = f"profile=notification&trim_start=0.{10 + index}&trim_duration=9"
                _accepted(service.submit(service.connect(), video, "video/mp4", query))
            beside.append(_latency(service, bodies[_PICTURES:]))
    return _findings("lanes", "Small pictures beside 4K videos", "small pictures alone", "4K videos", alone, beside, 3)


def measure_fairness(run):
    bodies = [file.read_bytes() for file in files(run.inputs.camera_roll(0))]
    origin = SlowOrigin(bodies)
    alone, beside, payloads = [], [], []
    for _ in run.turns("photographs beside another tenant's flood", most=3):
        with Service(run.workplace, "--fetch-allow", "127.0.0.1") as service:
            photographs = [unlike(bodies[index % len(bodies)], index) for index in range(_PHOTOGRAPHS)]
            alone.append(_latency(service, photographs))
            _flood(service, bodies, origin)
            beside.append(_latency(service, [unlike(body, "again") for body in photographs]))
            payloads.append(_payload_latency(service, origin, len(bodies)))
    title = "Photographs beside another tenant's flood"
    findings = _findings("fairness", title, "photographs alone", "the flood", alone, beside, 2)
    title = "— p99 of push payloads beside the flood, with their pictures"
    findings.add("payload", title, payloads, SECONDS, at_most=1)
    return findings


def _payload_latency(service, origin, count):
    """Seconds: over one client's payloads, each with a photograph of its own."""
    seconds, connection = [], service.connect()
    for index in range(_PAYLOADS):
        url = origin.url(index % count, "prompt", 60, index)
        payload = {"aps": {"alert": {"body": "A"}, "mutable-content": 1}, "att": {"a": url}}
        answer = service.post(connection, "/v1/payloads/apns", payload)
        # With its picture, or it would be no feat.
        if answer.status != 200 or b"/c/" not in answer.body:
            refuse("POST", "/v1/payloads/apns", answer)
        seconds.append(answer.seconds)
    return percentile(0.99, seconds)


def _flood(service, bodies, origin):
    """More bulk work of another tenant than is carried out while the rest is measured."""
    key, connection = service.key("--tenant", "flood"), service.connect()
    for index in range(_SILENT):
        job = {"profile": "archive", "priority": "bulk", "attachments": [{"url": origin.url(0, "silent", 600, index)}]}
        _accepted(service.post(connection, "/v1/jobs", job, key))
    for index in range(_FLOOD):
        body = unlike(bodies[index % len(bodies)], index)
        _accepted(service.submit(connection, body, "image/jpeg", "profile=archive&priority=bulk", key))
