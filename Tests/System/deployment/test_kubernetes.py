import functools
import ipaddress
import json
import re
import subprocess
import unittest

import kubernetes_validate
import metrics
import yaml

from deployment import DOCKER, ROOT, SECRET, complaint, satchel, settings, size

OVERLAYS = sorted(path.parent.name for path in (DOCKER / "kubernetes/overlays").glob("*/kustomization.yaml"))
# From the oldest that has what the manifests use to the newest that is known.
VERSIONS = ["1.31", "1.37"]
# What extends a cluster: no schema of Kubernetes' own.
FOREIGN = {"HTTPRoute"}
# What README.md has an operator make, and what is in it.
SECRETS = {
    "satchel-database": {"username", "password"}, "satchel-database-owner": {"username", "password"},
    "satchel-bucket": {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}, "satchel-access-keys": {"access.keys"},
    "satchel-tls": set(),
}


@functools.cache
def rendered(overlay):
    told = subprocess.run(
        ["kubectl", "kustomize", DOCKER / "kubernetes/overlays" / overlay], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    return told.stdout


@functools.cache
def everything(overlay):
    return list(yaml.load_all(rendered(overlay), Loader=yaml.CSafeLoader))


def objects(overlay, *kinds):
    return [one for one in everything(overlay) if not kinds or one["kind"] in kinds]


def named(overlay, kind, name):
    (found,) = [one for one in objects(overlay, kind) if one["metadata"]["name"] == name]
    return found


def pods(overlay):
    """(name, the pod's template) of all that makes pods."""
    for one in objects(overlay, "Deployment", "Job"):
        yield one["metadata"]["name"], one["spec"]["template"]


def configuration(overlay):
    (found,) = objects(overlay, "ConfigMap")
    return found["data"]


def environment(overlay, template):
    """What a pod gets, with a word for each secret."""
    made = dict(configuration(overlay))
    for variable in template["spec"]["containers"][0]["env"]:
        made[variable["name"]] = re.sub(
            r"\$\((\w+)\)", lambda match: made[match.group(1)], variable.get("value", word_for(variable)))
    return made


def word_for(variable):
    """In the place of what a cluster fills in."""
    return "10.1.2.3" if "fieldRef" in variable.get("valueFrom", {}) else "word"


def selects(labels, template):
    return labels.items() <= template["metadata"]["labels"].items()


class KubernetesTests(unittest.TestCase):
    def each(self):
        for overlay in OVERLAYS:
            with self.subTest(overlay):
                yield overlay

    def each_pod(self):
        for overlay in OVERLAYS:
            for name, template in pods(overlay):
                with self.subTest(f"{overlay}: {name}"):
                    yield overlay, name, template

    def test_there_is_an_overlay_for_a_small_cluster_and_one_for_zones(self):
        self.assertEqual(OVERLAYS, ["small", "zones"])

    def test_kubernetes_takes_every_object(self):
        for overlay in self.each():
            foreign = {one["kind"] for one in objects(overlay)} & FOREIGN
            self.assertEqual(len(objects(overlay)), len({(one["kind"], one["metadata"]["name"]) for one in objects(overlay)}))
            for one in objects(overlay):
                self.assertEqual(one["metadata"]["namespace"], "satchel")
                self.assertIn("app.kubernetes.io/name", one["metadata"]["labels"])
                for version in VERSIONS if one["kind"] not in foreign else []:
                    kubernetes_validate.validate(one, version, strict=True)

    def test_every_setting_is_one_and_is_taken(self):
        for overlay, name, template in self.each_pod():
            made = environment(overlay, template)
            self.assertLessEqual({one for one in made if one.startswith("SATCHEL_")}, settings().keys())
            self.assertEqual(complaint(made), "", name)

    def test_no_manifest_has_a_secret(self):
        for overlay in self.each():
            self.assertEqual(objects(overlay, "Secret"), [])
            for name, value in configuration(overlay).items():
                self.assertIsNone(SECRET.search(name), name)
                self.assertNotRegex(value, r"://[^/@]*:[^/@]*@")
        for _, _, template in self.each_pod():
            for variable in template["spec"]["containers"][0]["env"]:
                if SECRET.search(variable["name"]):
                    self.assertEqual(variable.keys(), {"name", "valueFrom"})

    def test_secrets_are_those_that_the_readme_makes(self):
        readme = (DOCKER / "README.md").read_text(encoding="utf-8")
        for overlay in self.each():
            asked = set(re.findall(r"secretName: ([\w-]+)", rendered(overlay)))
            asked |= set(re.findall(r"secretKeyRef:\n\s+key: \w+\n\s+name: ([\w-]+)", rendered(overlay)))
            asked |= set(re.findall(r"secretRef:\n\s+name: ([\w-]+)", rendered(overlay)))
            self.assertLessEqual(asked, SECRETS.keys())
            for name in asked:
                self.assertRegex(readme, rf"create secret \w+ {name}\b")
        for _, _, template in self.each_pod():
            for variable in template["spec"]["containers"][0]["env"]:
                secret = variable.get("valueFrom", {}).get("secretKeyRef")
                if secret:
                    self.assertIn(secret["key"], SECRETS[secret["name"]])

    def test_commands_are_commands_of_satchel(self):
        for _, name, template in self.each_pod():
            container = template["spec"]["containers"][0]
            if name == "satchel-tools":
                self.assertEqual(container["command"], ["sleep", "infinity"])
            else:
                self.assertNotIn("command", container)
                self.assertEqual(satchel(*container["args"], "--help").returncode, 0)

    def test_pods_have_no_right_that_they_do_not_need(self):
        for _, _, template in self.each_pod():
            spec = template["spec"]
            self.assertFalse(spec["automountServiceAccountToken"])
            self.assertFalse(spec["enableServiceLinks"])
            self.assertEqual(spec["serviceAccountName"], "satchel")
            self.assertEqual(
                spec["securityContext"], {
                    "runAsNonRoot": True, "runAsUser": 10001, "runAsGroup": 10001, "fsGroup": 10001,
                    "seccompProfile": {"type": "RuntimeDefault"}})
            self.assertFalse({"hostNetwork", "hostPID", "hostIPC"} & spec.keys())
            for container in spec["containers"] + spec.get("initContainers", []):
                self.assertEqual(
                    container["securityContext"], {
                        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})

    def test_pods_of_one_overlay_have_one_image(self):
        for overlay in self.each():
            images = {container["image"] for _, template in pods(overlay) for container in template["spec"]["containers"]}
            self.assertEqual(len(images), 1)
            self.assertRegex(images.pop(), r"^[\w.]+/satchel:\w+$")

    def test_the_keys_are_read_where_they_are_mounted_and_cannot_be_written(self):
        for overlay, name, template in self.each_pod():
            if name == "satchel-migrate":
                continue
            (volume,) = [one for one in template["spec"]["volumes"] if one.get("secret")]
            # Its group's, for it is root's; and nobody else's.
            self.assertEqual(volume["secret"]["defaultMode"], 0o440)
            (mount,) = [
                one for one in template["spec"]["containers"][0]["volumeMounts"] if one["name"] == volume["name"]]
            self.assertTrue(mount["readOnly"])
            # With a subPath a rotation would never arrive.
            self.assertNotIn("subPath", mount)
            self.assertEqual(configuration(overlay)["SATCHEL_ACCESS_KEYS"], mount["mountPath"] + "/access.keys")

    def test_the_spool_is_the_pods_own_and_holds_what_is_taken(self):
        for overlay, name, template in self.each_pod():
            if name == "satchel-migrate":
                continue
            container = template["spec"]["containers"][0]
            (mount,) = [
                one for one in container["volumeMounts"]
                if one["mountPath"] == configuration(overlay)["SATCHEL_SPOOL"]]
            (volume,) = [one for one in template["spec"]["volumes"] if one["name"] == mount["name"]]
            limit = size(volume["emptyDir"]["sizeLimit"])
            self.assertGreater(limit, int(configuration(overlay)["SATCHEL_INTAKE_SPOOL_BYTES"]) * 1.2)
            # A pod comes where there is room.
            if name != "satchel-tools":
                self.assertGreaterEqual(size(container["resources"]["requests"]["ephemeral-storage"]), limit)

    def test_work_has_time_to_end(self):
        for overlay, name, template in self.each_pod():
            container = template["spec"]["containers"][0]
            if container.get("args") != ["serve"]:
                continue
            wait = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
            grace = int(environment(overlay, template).get("SATCHEL_GRACE", settings()["SATCHEL_GRACE"]))
            # Where something hangs, it ends by itself 2 s later.
            self.assertGreaterEqual(template["spec"]["terminationGracePeriodSeconds"], wait + grace + 5)

    def test_probes_ask_what_is_described(self):
        described = json.loads((ROOT / "Sources/Service/API/Description/openapi.json").read_text(encoding="utf-8"))["paths"]
        for _, _, template in self.each_pod():
            container = template["spec"]["containers"][0]
            if container.get("args") != ["serve"]:
                continue
            asked = {kind: container[kind]["httpGet"] for kind in ("startupProbe", "livenessProbe", "readinessProbe")}
            self.assertEqual([one["path"] for one in asked.values()], ["/livez", "/livez", "/readyz"])
            self.assertEqual({one["port"] for one in asked.values()}, {"http"})
            self.assertLessEqual({one["path"] for one in asked.values()}, described.keys())
            (port,) = container["ports"]
            self.assertEqual(port["containerPort"], 8080)
            # And so does Prometheus.
            told = template["metadata"]["annotations"]
            self.assertEqual((told["prometheus.io/port"], told["prometheus.io/path"]), ("8080", "/metrics"))

    def test_selectors_find_their_pods_and_no_others(self):
        for overlay in self.each():
            components = {template["metadata"]["labels"]["app.kubernetes.io/component"]: template for _, template in pods(overlay)}
            self.assertEqual(components.keys(), {"api", "worker", "tools", "migration"})

            def found(labels, components=components):
                return {name for name, template in components.items() if selects(labels, template)}

            for one in objects(overlay, "Deployment"):
                component = one["metadata"]["labels"]["app.kubernetes.io/component"]
                self.assertEqual(found(one["spec"]["selector"]["matchLabels"]), {component})
                for constraint in one["spec"]["template"]["spec"].get("topologySpreadConstraints", []):
                    self.assertEqual(found(constraint["labelSelector"]["matchLabels"]), {component})
            (service,) = objects(overlay, "Service")
            self.assertEqual(found(service["spec"]["selector"]), {"api"})
            budgets = [found(one["spec"]["selector"]["matchLabels"]) for one in objects(overlay, "PodDisruptionBudget")]
            self.assertEqual(budgets, [{"api"}, {"worker"}])
            policies = {
                one["metadata"]["name"]: found(one["spec"]["podSelector"]["matchLabels"])
                for one in objects(overlay, "NetworkPolicy")}
            self.assertEqual(policies, {"satchel": set(components), "satchel-api": {"api"}, "satchel-worker": {"worker"}})
            (configured,) = objects(overlay, "ConfigMap")
            for _, template in pods(overlay):
                sources = template["spec"]["containers"][0]["envFrom"]
                names = [one["configMapRef"]["name"] for one in sources if "configMapRef" in one]
                self.assertEqual(names, [configured["metadata"]["name"]])

    def test_workers_reach_no_private_address_but_by_the_common_rules(self):
        for overlay in self.each():
            (rule,) = named(overlay, "NetworkPolicy", "satchel-worker")["spec"]["egress"]
            blocks = [one["ipBlock"] for one in rule["to"]]

            def reached(address, blocks=blocks):
                address = ipaddress.ip_address(address)
                return any(
                    address in ipaddress.ip_network(block["cidr"])
                    and not any(address in ipaddress.ip_network(out) for out in block.get("except", []))
                    for block in blocks)

            for address in (
                "10.1.2.3", "172.31.0.1", "192.168.1.1", "127.0.0.1", "169.254.169.254", "100.64.0.1", "fd00::1", "fe80::1", "::1",
            ):
                self.assertFalse(reached(address), address)
            for address in ("1.1.1.1", "172.32.0.1", "2a00:1450::1"):
                self.assertTrue(reached(address), address)

    def test_clients_come_to_the_api_and_to_nothing_of_its_operation(self):
        described = json.loads((ROOT / "Sources/Service/API/Description/openapi.json").read_text(encoding="utf-8"))["paths"]
        inside = {"/livez", "/readyz", "/metrics"}
        for overlay in self.each():
            (service,) = objects(overlay, "Service")
            ports = {one["name"]: one["port"] for one in service["spec"]["ports"]}
            allowed = []
            for front in objects(overlay, "Ingress"):
                for rule in front["spec"]["rules"]:
                    for path in rule["http"]["paths"]:
                        allowed.append((path["path"], path["pathType"] == "Prefix"))
                        backend = path["backend"]["service"]
                        self.assertEqual(backend["name"], service["metadata"]["name"])
                        self.assertIn(backend["port"]["name"], ports)
            for front in objects(overlay, "HTTPRoute"):
                self.assertEqual(front["apiVersion"], "gateway.networking.k8s.io/v1")
                for rule in front["spec"]["rules"]:
                    allowed += [(one["path"]["value"], one["path"]["type"] == "PathPrefix") for one in rule["matches"]]
                    self.assertEqual(rule["timeouts"], {"request": "0s"})
                    self.assertEqual(rule["backendRefs"], [{"name": service["metadata"]["name"], "port": ports["http"]}])
            passed = {
                path for path in described
                if any(path == place or prefix and path.startswith(place + "/") for place, prefix in allowed)}
            self.assertEqual(passed, described.keys() - inside)

    def test_what_the_readme_applies_first_is_all_that_a_migration_needs(self):
        readme = (DOCKER / "README.md").read_text(encoding="utf-8")
        applied = set(re.search(r"-l 'app.kubernetes.io/component in \(([\w, ]+)\)'", readme).group(1).split(", "))
        for overlay in self.each():
            chosen = [
                one for one in objects(overlay) if one["metadata"]["labels"].get("app.kubernetes.io/component") in applied]
            self.assertEqual({one["kind"] for one in chosen}, {"ConfigMap", "ServiceAccount", "NetworkPolicy", "Job"})
            (job,) = [one for one in chosen if one["kind"] == "Job"]
            self.assertEqual(job["spec"]["template"]["spec"]["containers"][0]["args"], ["store", "migrate"])
            # Who migrates isn't who serves.
            users = {
                name: variable["valueFrom"]["secretKeyRef"]["name"] for name, template in pods(overlay)
                for variable in template["spec"]["containers"][0]["env"] if variable["name"] == "PGUSER"}
            self.assertEqual(
                {name for name, secret in users.items() if secret == "satchel-database-owner"}, {job["metadata"]["name"]})
            self.assertEqual(len(users), len(list(pods(overlay))))

    def test_what_the_readme_names_is_there(self):
        readme = (DOCKER / "README.md").read_text(encoding="utf-8")
        kinds = {"deployment": "Deployment", "job": "Job"}
        names = {(kind, name) for kind, name in re.findall(r"\b(deployment|job)[ /](satchel-\w+)", readme)}
        self.assertEqual({name for _, name in names}, {"satchel-tools", "satchel-migrate"})
        for overlay in self.each():
            for kind, name in names:
                named(overlay, kinds[kind], name)
            for label in re.findall(r"kubectl label namespace [\w-]+ (satchel-\w+)=true", readme):
                self.assertIn(f'{label}: "true"', rendered(overlay))

    def test_a_machine_can_be_emptied(self):
        for overlay in self.each():
            for budget in objects(overlay, "PodDisruptionBudget"):
                self.assertEqual(budget["spec"]["maxUnavailable"], 1)


class ZonesTests(unittest.TestCase):
    def test_zones_have_as_many_pods_as_each_other(self):
        for name in ("satchel-api", "satchel-worker"):
            spec = named("zones", "Deployment", name)["spec"]["template"]["spec"]
            constraints = {one["topologyKey"]: one for one in spec["topologySpreadConstraints"]}
            zone = constraints["topology.kubernetes.io/zone"]
            self.assertEqual((zone["whenUnsatisfiable"], zone["maxSkew"]), ("DoNotSchedule", 1))
            # A machine that is missing is no reason to have fewer.
            self.assertEqual(constraints["kubernetes.io/hostname"]["whenUnsatisfiable"], "ScheduleAnyway")

    def test_numbers_of_pods_are_left_to_what_scales_them(self):
        scaled = {one["spec"]["scaleTargetRef"]["name"]: one["spec"] for one in objects("zones", "HorizontalPodAutoscaler")}
        self.assertEqual(scaled.keys(), {"satchel-api", "satchel-worker"})
        for name, spec in scaled.items():
            # Else each apply would set it back.
            self.assertNotIn("replicas", named("zones", "Deployment", name)["spec"])
            self.assertGreaterEqual(spec["minReplicas"], 3)

    def test_workers_are_scaled_by_a_metric_that_is_told(self):
        (worker,) = [
            one for one in objects("zones", "HorizontalPodAutoscaler")
            if one["spec"]["scaleTargetRef"]["name"] == "satchel-worker"]
        wanted = worker["spec"]["metrics"][0]["external"]["metric"]["name"]
        with open(DOCKER / "prometheus/adapter.yml", encoding="utf-8") as file:
            (rule,) = yaml.safe_load(file)["externalRules"]
        self.assertEqual(rule["name"]["as"], wanted)
        told = metrics.told()
        for text in (rule["seriesQuery"], rule["metricsQuery"]):
            (name,) = re.findall(r"satchel_\w+", text)
            self.assertIn("state", told[name])
        rules = {"groups": [{"name": "adapter", "rules": [{"record": "pending", "expr": rule["metricsQuery"]}]}]}
        checked = subprocess.run(
            ["promtool", "check", "rules", "/dev/stdin"], input=yaml.safe_dump(rules), capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
