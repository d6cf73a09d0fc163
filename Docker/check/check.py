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
            expect(service.children("Z") == 0, "no dead process is left lying", service.output())
            status, seconds = service.stop()
            expect(status == 0 and seconds < 20, f"it stops when it is told to, in {seconds:.1f} s", service.output())
        with running(container, image, directory) as service:
            service.health()
            again = ask(8080, "GET", f"/v1/jobs/{job['id']}", Authorization=f"Bearer {service.key}")
            expect(json.loads(again.body)["state"] == "delivered", "a new container finds the old one's jobs", str(again.body))


def check_files(root_directory, image):
    """What needs no run."""
    print("files")
    expect(image.user == "10001:10001" and image.entry == ["satchel"], "the image starts satchel as user 10001")
    sources = f"{root_directory}/usr/share/doc/satchel"
    with open(f"{sources}/SOURCES", encoding="utf-8") as file:
        expect("/package/ffmpeg/" in file.read(), "the image says where the sources of FFmpeg are")
    listing = subprocess.run(
        ["tar", "--list", "--file", f"{sources}/satchel-sources.tar.gz"], check=True, capture_output=True, text=True).stdout
    expect("Sources/Codec/StillCodecs/Codec.swift\n" in listing, "the image holds Satchel's sources")
    build = subprocess.run(
        ["make", "--dry-run", "release-programs"], cwd=f"{KEEP}/context", check=False, capture_output=True, text=True)
    expect("--product satchel\n" in build.stdout, "what an engine is sent has what the build stage runs", build.stderr)
    programs = f"{root_directory}/usr/local/lib/satchel"
    expect(
        all(os.listdir(f"{programs}/{codec}.stand-ins") for codec in ("satchel-codec", "satchel-stills")),
        "the image's codecs have their stand-ins")
    strays = subprocess.run(
        ["find", ".", "-xdev", "(", "-path", "*/tmp/*", "-o", "-path", "*/var/lib/apt/lists/*", "-o", "-name", "*.deb", ")"],
        cwd=root_directory, check=True, capture_output=True, text=True).stdout
    expect(strays == "", "the image holds nothing that only its making needed", strays)


def main():
    built = os.path.abspath(sys.argv[1])
    os.makedirs(KEEP, exist_ok=True)
    start = time.monotonic()
    codecs = builder.built_codecs(os.path.basename(built))
    root_directory, image = root.make_root(CONTEXT, KEEP, built, codecs, builder.make_stand_ins)
    print(
        f"The image holds {root.megabytes(root_directory)} MB, {root.megabytes(root_directory + '/usr/local')} MB of them Satchel "
        f"and Swift's runtime; made in {time.monotonic() - start:.0f} s.")
    expectation.own_network()
    check_files(root_directory, image)
    check_runs(root_directory, image)
    check_service(root_directory, image)
    root.remove(root_directory)
    print(f"{expectation.passed} checks passed in {time.monotonic() - start:.0f} s.")


if __name__ == "__main__":
    main()
