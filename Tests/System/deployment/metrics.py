"""Compares what the alerts and the dashboard ask for with what the service tells: names and labels.

    Tests/System/deployment/metrics.py      in the sources' directory; exit status 1 where they don't agree
"""

import json
import re
import sys

DESCRIPTIONS = "Sources/Service/API/Operation/MetricDescription.swift"
ALERTS = "Docker/prometheus/alerts.yml"
DASHBOARD = "Docker/grafana/satchel.json"
# Prometheus' own.
OWN_LABELS = {"instance", "job", "le"}


def told():
    """name → its labels, for every series that /metrics has."""
    with open(DESCRIPTIONS, encoding="utf-8") as file:
        text = file.read()
    series = {}
    for entry in re.finditer(r'\.init\(\s*"(\w+)",\s*\.(counter|gauge|histogram)(.*?)\)(?=,\s*(?:\.init|\]))', text, re.S):
        name, kind, rest = entry.groups()
        # Texts: the help, then the labels.
        labels = set(re.findall(r'"((?:[^"\\]|\\.)*)"', rest)[1:])
        suffixes = ["_bucket", "_sum", "_count"] if kind == "histogram" else [""]
        for suffix in suffixes:
            series[f"satchel_{name}{suffix}"] = labels
    return series


def asked():
    """(where, expression) of every alert, panel, annotation and variable."""
    with open(ALERTS, encoding="utf-8") as file:
        # A rule is from its name to the next one.
        for rule in re.split(r"\n\s*- alert: ", file.read())[1:]:
            yield rule.split("\n", 1)[0], re.search(r"expr: (.*?)\n\s*(?:for|labels):", rule, re.S).group(1)
    with open(DASHBOARD, encoding="utf-8") as file:
        dashboard = json.load(file)
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for annotation in dashboard["annotations"]["list"]:
        yield annotation["name"], annotation["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"]


def complaints():
    series = told()
    if len(series) < 20:
        yield f"{DESCRIPTIONS}: only {len(series)} series were found; has its form changed?"
    used = set()
    for where, expression in asked():
        names = set(re.findall(r"\bsatchel_\w+", expression))
        used |= names
        for name in sorted(names - series.keys()):
            yield f"{where}: there is no {name}"
        known = OWN_LABELS.union(*(series.get(name, set()) for name in names))
        labels = set()
        for inside in re.findall(r"\{([^{}]*)\}", expression):
            labels |= set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", inside))
        for inside in re.findall(r"\bby \(([^)]*)\)", expression):
            labels |= {label.strip() for label in inside.split(",")}
        for label in sorted(labels - known):
            yield f"{where}: no series of it has the label '{label}'"
    shown = {name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") for name in used}
    for name in sorted({name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") for name in series} - shown):
        if not name.endswith("_descriptor_limit"):
            yield f"nothing shows {name}"


if __name__ == "__main__":
    found = list(complaints())
    for complaint in found:
        print(complaint, file=sys.stderr)
    print(f"{len(told())} series are told; {sum(1 for _ in asked())} expressions ask for them.")
    sys.exit(1 if found else 0)
