"""What the tests of the deployment share: where things are, what Satchel says of its settings, what a compose file comes to."""

import functools
import os
import pathlib
import re
import subprocess

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCKER = ROOT / "Docker"
SATCHEL = os.environ["SATCHEL_PRODUCTS"] + "/satchel"
# No settings of whoever runs the tests.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith(("SATCHEL_", "AWS_", "PG", "XDG_"))}
# What names a secret, wherever it stands.
SECRET = re.compile(r"PASSWORD|SECRET|AWS_ACCESS_KEY_ID|AWS_SESSION_TOKEN")


def satchel(*arguments, environment=None, **options):
    return subprocess.run(
        [SATCHEL, *arguments], env={**ENVIRONMENT, "HOME": "/nonexistent", **(environment or {})}, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, check=False, **options)


@functools.cache
def settings():
    """Variable → the default's text."""
    told = satchel("config", "keys")
    return {name: default for default, name in re.findall(r"default: (.*); (SATCHEL_\w+)$", told.stdout, re.M)}


def seconds(text):
    """Of compose's `40s`."""
    return int(re.fullmatch(r"(\d+)s", text).group(1))


def size(text):
    """Bytes of `4g`, or of Kubernetes' `6Gi`."""
    number, unit = re.fullmatch(r"(\d+)(\w*)", str(text)).groups()
    return int(number) * {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[unit.lower().removesuffix("i")]


def complaint(environment):
    """What Satchel has to say against these variables; nothing where it takes them."""
    told = satchel("config", environment=environment)
    return told.stderr + (told.stdout if told.returncode else "")


@functools.cache
def composed(name):
    with open(DOCKER / name, encoding="utf-8") as file:
        return yaml.safe_load(file)


def interpolated(value, variables):
    """As compose does with `${NAME:?why}` and `${NAME:-else}`."""

    def replace(match):
        name, kind, text = match.groups()
        if name in variables:
            return variables[name]
        assert kind == "-", f"compose wants {name}"
        return text

    return re.sub(r"\$\{(\w+):([?-])([^}]*)\}", replace, str(value))


def variables(service, given):
    """The environment that a service of a compose file gets, where compose is run with what is given."""
    made = {}
    for name, value in service.get("environment", {}).items():
        if value is not None:
            made[name] = interpolated(value, given)
        elif name in given:
            made[name] = given[name]
    return made
