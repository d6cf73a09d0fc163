"""Checks the image without a Docker engine: see Docker/check.sh."""

import contextlib
import errno
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

import yaml

import builder
import expectation
import metrics
import proxy
import root
from container import Container
from expectation import expect
from service import Service, ask, submit

CONTEXT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
KEEP = f"{CONTEXT}/.build/docker"
SAMPLES = ["jpeg/earth-12-megapixels.jpg", "m4v/film.m4v"]
PUBLIC_URL = "https://media.example.com"

@contextlib.contextmanager
def volumes(image, user):
    """A new directory for each of the image's volumes, as a new volume is: owned as the image's directory is."""
    with tempfile.TemporaryDirectory(prefix="satchel-check-") as directory:
        os.chmod(directory, 0o711)
        made = {}
        for number, inside in enumerate(image.volumes):
            made[inside] = f"{directory}/{number}"
            os.mkdir(made[inside], 0o700)
            os.chown(made[inside], *(int(part) for part in user.split(":")))
        yield made


def layers(report):
    """Layer → ok, -- or !!, of what `satchel doctor` prints."""
    return dict((line[4:].split("  ")[0], line[:2]) for line in report.splitlines()[1:] if len(line) > 4)


NAMESPACES = {"user namespace", "network namespace", "mount namespace", "IPC namespace", "process namespace"}


def check_confinement(container, missing):
    """`satchel doctor` finds all that is required, and of the extras all but `missing`; and a job works."""
    doctor = container.run("satchel", "doctor")
    evidence = doctor.stdout + doctor.stderr
    expect(doctor.returncode == 0, "doctor finds what is required", evidence)
    libraries = dict(re.findall(r"^ok  (codec(?: for stills)?)  .*/satchel-\w+, (.*?) *$", doctor.stdout, re.M))
    expect(
        libraries == {"codec": "libvips, FFmpeg, libheif, libjxl, libjpeg-turbo",
            "codec for stills": "libvips, libjpeg-turbo"},
        "each codec decodes with its own libraries", evidence)
    # Whether the clock is kept right is the machine's.
    found = {layer for layer, grade in layers(doctor.stdout).items() if grade == "--"} - {"clock"}
    expect(found == missing, f"of the extras are missing: {', '.join(sorted(missing)) or 'none'}", evidence)
    check_job(container)


def check_job(container):
    added = container.run("satchel", "add", *(f"/mnt/{name}" for name in SAMPLES))
    expect(
        added.returncode == 0 and added.stdout.count(" full ") == len(SAMPLES), "satchel add delivers a picture and a video",
        added.stdout + added.stderr)


def pod():
    """What the manifest of a worker says of its rights. Its RuntimeDefault is containerd's profile, which lets through what Docker's
    does."""
    with open(f"{CONTEXT}/Docker/kubernetes/base/worker.yaml", encoding="utf-8") as file:
        spec = yaml.safe_load(file)["spec"]["template"]["spec"]
    whole, own = spec["securityContext"], spec["containers"][0]["securityContext"]
    assert whole["seccompProfile"] == {"type": "RuntimeDefault"}
    return {
        "user": f"{whole['runAsUser']}:{whole['runAsGroup']}", "read_only": own["readOnlyRootFilesystem"],
        "drop_capabilities": own["capabilities"] == {"drop": ["ALL"]},
        "no_new_privileges": not own["allowPrivilegeEscalation"],
    }


def check_runs(root_directory, image):
    owned = image.user
    environment = {**image.environment, "SATCHEL_PUBLIC_URL": PUBLIC_URL}
    base = Container(root=root_directory, environment=environment, directory=image.directory)
    # Name, what docker run is told, whose volumes, missing extras.
    runs = [
        ("as the image's user, by Docker's defaults", {"user": owned}, NAMESPACES),
        ("as root, by Docker's defaults", {"user": "0:0"}, NAMESPACES),
        (
            "with --read-only --cap-drop ALL --security-opt no-new-privileges, before Docker knew Landlock",
            {
                "user": owned, "read_only": True, "drop_capabilities": True, "no_new_privileges": True,
                "seccomp": "old",
            }, NAMESPACES | {"Landlock"}),
        ("as a pod of kubernetes/base", pod(), NAMESPACES),
        ("with --security-opt seccomp=unconfined", {"user": owned, "seccomp": None}, set()),
    ]
    for name, options, missing in runs:
        print(name)
        with volumes(image, options["user"]) as made:
            container = replace(base, volumes={**made, "/mnt": f"{CONTEXT}/Media"}, **options)
            if container.seccomp:
                # clone3 by its number, which all processors share; without the filter its arguments are what is wrong.
                asked = container.run("perl", "-e", "syscall(435, 0, 0); print $! + 0")
                expect(asked.stdout == str(errno.ENOSYS), "clone3 isn't there", asked.stdout + asked.stderr)
            check_confinement(container, missing)

    print("where it can't work")
    with volumes(image, "0:0") as made:
        container = replace(base, volumes={**made, "/mnt": f"{CONTEXT}/Media"}, user="0:0", drop_capabilities=True)
        added = container.run("satchel", "add", f"/mnt/{SAMPLES[0]}")
        expect(
            added.returncode == 1 and "user id of its own" in added.stderr,
            "root without capabilities is told what is missing", added.stdout + added.stderr)
        container = replace(container, user=owned, drop_capabilities=False)
        doctor = container.run("satchel", "doctor")
        expect(
            doctor.returncode == 1 and re.search(r"^!!  store ", doctor.stdout, re.M),
            "a volume of another user is named", doctor.stdout + doctor.stderr)


def composed(name, base, made):
    """The container that a compose file makes of the service `satchel`."""
    with open(f"{CONTEXT}/Docker/{name}", encoding="utf-8") as file:
        services = yaml.safe_load(file)["services"]
    satchel = services["satchel"]
    environment = {
        key: PUBLIC_URL if value.startswith("${SATCHEL_PUBLIC_URL:?") else value
        for key, value in satchel["environment"].items()
    }
    container = replace(
        base, volumes=made, environment={**base.environment, **environment}, read_only=satchel["read_only"],
        drop_capabilities=satchel["cap_drop"] == ["ALL"],
        no_new_privileges="no-new-privileges:true" in satchel["security_opt"])
    return container, services


@contextlib.contextmanager
def running(container, image, directory):
    with open(f"{directory}/log", "w", encoding="utf-8") as log:
        service = Service(container, image, log)
        try:
            yield service
        finally:
            service.kill()


def check_service(root_directory, image):
    print("compose.yaml: a service on one node")
    base = Container(
        root=root_directory, user=image.user, environment=image.environment, directory=image.directory)
    with volumes(image, image.user) as made, tempfile.TemporaryDirectory() as directory:
        container, services = composed("compose.yaml", base, made)
        targets = [volume.split(":")[1] for volume in services["satchel"]["volumes"]]
        expect(sorted(targets) == sorted(image.volumes), "its volumes are the image's")
        settings = container.run("satchel", "config")
        expect(
            settings.returncode == 0 and "Warning" not in settings.stderr and PUBLIC_URL in settings.stdout,
            "its environment holds settings only", settings.stdout + settings.stderr)
        refused = container.run(*image.entry, *image.command)
        expect(
            refused.returncode == 2 and "satchel key create" in refused.stderr, "without an API key it says how to make one",
            refused.stdout + refused.stderr)
        with running(container, image, directory) as service:
            expect(service.health() == "ok", "the health check finds it well", service.output())
            job = submit(8080, service.key, f"{CONTEXT}/Media/{SAMPLES[0]}", "image/jpeg")
            main = job["attachments"][0]["renditions"]["main"]
            expect(
                job["state"] == "delivered" and main["url"].startswith(PUBLIC_URL + "/c/"), "a job over HTTP is delivered",
                json.dumps(job, indent=1))
            content = ask(8080, "GET", main["url"].removeprefix(PUBLIC_URL))
            expect(
                content.status == 200 and len(content.body) == main["bytes"], "its rendition can be had", str(content.headers))
            numbers = ask(8080, "GET", "/metrics").body.decode()
            described = metrics.told()
            present = set(re.findall(r"^(satchel_\w+)", numbers, re.M))
            expect(
                present and present <= described.keys(), "Prometheus is told what is described, and nothing else",
                str(present - described.keys()))
            expect(service.children("Z") == 0, "no dead process is left lying", service.output())
            status, seconds = service.stop()
            expect(status == 0 and seconds < 20, f"it stops when it is told to, in {seconds:.1f} s", service.output())
            expect(service.key not in service.output(), "its log has no key")
        with running(container, image, directory) as service:
            service.health()
            again = ask(8080, "GET", f"/v1/jobs/{job['id']}", Authorization=f"Bearer {service.key}")
            expect(json.loads(again.body)["state"] == "delivered", "a new container finds the old one's jobs", str(again.body))


def check_proxy(root_directory, image):
    print("compose.nginx.yaml: nginx in front")
    base = Container(
        root=root_directory, user=image.user, environment=image.environment, directory=image.directory)
    with volumes(image, image.user) as made, tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o711)
        container, services = composed("compose.nginx.yaml", base, made)
        expect(services["nginx"]["user"] == image.user, "nginx runs as the user whose the store is")
        blobs = made["/var/lib/satchel"] + "/blobs"
        source = f"{CONTEXT}/Docker/nginx/nginx.conf"
        with running(container, image, directory) as service:
            service.health()
            with proxy.nginx(source, directory, image.user, blobs, "127.0.0.1:8080", 8088) as log:
                check_proxied(service, log)


def check_proxied(service, log):
    sample = f"{CONTEXT}/Media/{SAMPLES[0]}"
    job = submit(8088, service.key, sample, "image/jpeg")
    main = job["attachments"][0]["renditions"]["main"]
    path = main["url"].removeprefix(PUBLIC_URL)
    straight = ask(8080, "GET", path)
    expect("X-Accel-Redirect" in straight.headers and not straight.body, "Satchel leaves the bytes to nginx")
    content = ask(8088, "GET", path)
    expect(content.status == 200 and len(content.body) == main["bytes"], "nginx sends them", str(content.headers))
    wanted = {
        "Content-Type": main["media_type"], "Content-Disposition": 'inline; filename="main.jpg"',
        "ETag": f'"{main["sha256"]}"', "Accept-Ranges": "bytes", "Last-Modified": None,
    }
    for name in ("Cache-Control", "Referrer-Policy", "X-Content-Type-Options", "Content-Security-Policy"):
        wanted[name] = straight.headers[name]
        expect(wanted[name] is not None, f"Satchel sets {name}")
    for name, value in wanted.items():
        found = content.headers.get_all(name, [])
        expect(found == ([value] if value else []), f"nginx keeps {name}: {value or 'none'}", str(content.headers))
    piece = ask(8088, "GET", path, Range="bytes=100-199", If_Range=wanted["ETag"])
    expect(piece.status == 206 and piece.body == content.body[100:200], "a range of them, too", str(piece.headers))
    whole = ask(8088, "GET", path, Range="bytes=100-199", If_Range='"another"')
    expect(whole.status == 200 and whole.body == content.body, "not where they have changed", str(whole.headers))
    same = ask(8088, "GET", path, If_None_Match=wanted["ETag"])
    expect(same.status == 304 and not same.body, "nothing where they are known", str(same.headers))
    head = ask(8088, "HEAD", path)
    expect(head.status == 200 and head.headers["Content-Length"] == str(main["bytes"]), "their size", str(head.headers))
    blob = straight.headers["X-Accel-Redirect"]
    expect(ask(8088, "GET", blob).status == 404, "nobody gets them without a token")
    expect(ask(8088, "GET", "/metrics").status == 404, "nobody outside sees the metrics")

    lease = job["attachments"][0]["lease"]["id"]
    stopped = ask(8088, "DELETE", f"/v1/leases/{lease}", Authorization=f"Bearer {service.key}")
    expect(stopped.status == 204 and ask(8088, "GET", path).status == 404, "nor after the lease was stopped")

    token = path.split("/")[2]
    for disguised in (f"/c/{token}", f"//c/{token}/main.jpg", f"/%63/{token}/main.jpg", f"/v1?x={token}", f"/c/{token}/../{token}/x"):
        ask(8088, "GET", disguised)
    with open(log, encoding="utf-8") as file:
        lines = file.read()
    shown = f"/c/{token[:8]}…/main.jpg"
    expect(shown in lines, f"its log shows {shown[:-9]}", lines)
    secrets = [token, token[8:], service.key]
    expect(not any(secret in lines + service.output() for secret in secrets), "no log has a token or a key", lines)


def check_files(root_directory, image):
    """What needs no run."""
    print("files")
    expect(image.user == "10001:10001" and image.entry == ["satchel"], "the image starts satchel as user 10001")
    sources = f"{root_directory}/usr/share/doc/satchel"
    with open(f"{sources}/SOURCES", encoding="utf-8") as file:
        expect("/package/ffmpeg/" in file.read(), "the image says where the sources of FFmpeg are")
    listing = subprocess.run(
        ["tar", "--list", "--file", f"{sources}/satchel-sources.tar.gz"], check=True, capture_output=True, text=True).stdout
    expect("Sources/StillCodecs/Codec.swift\n" in listing, "the image holds Satchel's sources")
    strays = subprocess.run(
        ["find", ".", "-xdev", "(", "-path", "*/tmp/*", "-o", "-path", "*/var/lib/apt/lists/*", "-o", "-name", "*.deb", ")"],
        cwd=root_directory, check=True, capture_output=True, text=True).stdout
    expect(strays == "", "the image holds nothing that only its making needed", strays)

    alerts = subprocess.run(
        ["promtool", "check", "rules", f"{CONTEXT}/Docker/prometheus/alerts.yml"], capture_output=True, text=True, check=False)
    expect(alerts.returncode == 0, "the alerts are rules to Prometheus", alerts.stdout + alerts.stderr)
    scrape = subprocess.run(
        ["promtool", "check", "config", f"{CONTEXT}/Docker/prometheus/prometheus.yml"], capture_output=True, text=True,
        check=False)
    expect(scrape.returncode == 0, "the scrape configuration is one to Prometheus", scrape.stdout + scrape.stderr)
    os.chdir(CONTEXT)
    complaints = list(metrics.complaints())
    expect(not complaints, "alerts and dashboard ask for what the service tells", "\n".join(complaints))


def main():
    built = os.path.abspath(sys.argv[1])
    os.makedirs(KEEP, exist_ok=True)
    start = time.monotonic()
    codecs = builder.built_codecs(os.path.basename(built))
    root_directory, image = root.make_root(CONTEXT, KEEP, built, codecs)
    print(
        f"The image holds {root.megabytes(root_directory)} MB, {root.megabytes(root_directory + '/usr/local')} MB of them Satchel "
        f"and Swift's runtime; made in {time.monotonic() - start:.0f} s.")
    expectation.own_network()
    check_files(root_directory, image)
    check_runs(root_directory, image)
    check_service(root_directory, image)
    check_proxy(root_directory, image)
    root.remove(root_directory)
    print(f"{expectation.passed} checks passed in {time.monotonic() - start:.0f} s.")


if __name__ == "__main__":
    main()
