import pathlib
import re
import unittest

from deployment import DOCKER, ROOT, SECRET, complaint, composed, satchel, seconds, settings, variables

FILES = ["compose.yaml", "compose.nginx.yaml", "compose.scaled.yaml"]
GIVEN = {
    "SATCHEL_PUBLIC_URL": "https://media.example.com", "SATCHEL_BLOBS": "s3://media/satchel",
    "SATCHEL_DATABASE_PASSWORD": "one", "SATCHEL_DATABASE_OWNER_PASSWORD": "two", "AWS_ACCESS_KEY_ID": "id",
    "SATCHEL_S3_ENDPOINT": "http://10.0.0.1:9000", "SATCHEL_S3_PATH_STYLE": "true", "SATCHEL_S3_REGION": "here",
}


def services():
    for name in FILES:
        for service, values in composed(name)["services"].items():
            yield f"{name}: {service}", values


class ComposeTests(unittest.TestCase):
    def each(self):
        for name, service in services():
            with self.subTest(name):
                yield name, service

    def test_satchels_get_settings_that_it_knows_and_takes(self):
        count = 0
        for _, service in self.each():
            if service["image"] != "satchel":
                continue
            count += 1
            environment = variables(service, GIVEN)
            own = {name for name in environment if name.startswith("SATCHEL_")}
            self.assertLessEqual(own, settings().keys())
            self.assertEqual(complaint(environment), "")
        self.assertEqual(count, 5)

    def test_what_is_passed_on_where_it_is_set_is_a_setting_too(self):
        for _, service in self.each():
            for name, value in service.get("environment", {}).items():
                if value is None and not name.startswith("AWS_"):
                    self.assertIn(name, settings())

    def test_commands_are_commands_of_satchel(self):
        for _, service in self.each():
            if service["image"] == "satchel" and "command" in service:
                told = satchel(*service["command"], "--help")
                self.assertEqual(told.returncode, 0, told.stderr)

    def test_the_commands_that_are_written_at_the_top_are_there_too(self):
        for name in FILES:
            text = (DOCKER / name).read_text(encoding="utf-8")
            for service, command in re.findall(r"run --rm (\w+) (.*)", text):
                self.assertIn(service, composed(name)["services"])
                words = [word for word in command.split() if not word.startswith("-")]
                self.assertEqual(satchel(*words[:2], "--help").returncode, 0, command)

    def test_no_service_has_more_rights_than_it_needs(self):
        for _, service in self.each():
            self.assertTrue(service["read_only"])
            self.assertEqual(service["cap_drop"], ["ALL"])
            self.assertNotIn("cap_add", service)
            self.assertEqual(service["security_opt"], ["no-new-privileges:true"])
            self.assertNotIn("privileged", service)
            if service["image"] != "satchel":
                self.assertNotIn(service.get("user", "root"), ("root", "0", "0:0"))

    def test_nginx_runs_as_the_user_whose_the_store_is(self):
        user = re.search(r"^USER (\S+)$", (DOCKER / "Dockerfile").read_text(encoding="utf-8"), re.M).group(1)
        self.assertEqual(composed("compose.nginx.yaml")["services"]["nginx"]["user"], user)

    def test_images_are_ours_or_of_one_version(self):
        for _, service in self.each():
            self.assertRegex(service["image"], r"^satchel$|^\w+:\d+(\.\d+)?$")

    def test_no_file_has_a_secret(self):
        for _, service in self.each():
            for name, value in service.get("environment", {}).items():
                if SECRET.search(name) and value is not None:
                    self.assertRegex(str(value), r"^\$\{\w+:\?[^}]+\}$")

    def test_work_has_time_to_end(self):
        grace = int(settings()["SATCHEL_GRACE"])
        for _, service in self.each():
            if service["image"] == "satchel" and "command" not in service:
                self.assertGreaterEqual(seconds(service["stop_grace_period"]), grace + 5)

    def test_files_that_are_mounted_are_there(self):
        for _, service in self.each():
            for volume in service.get("volumes", []):
                if isinstance(volume, str) and volume.startswith("."):
                    source, _, access = volume.split(":")
                    self.assertTrue((DOCKER / source).is_file(), source)
                    self.assertEqual(access, "ro")

    def test_what_is_waited_for_says_when_it_is_there(self):
        for name in FILES:
            known = composed(name)["services"]
            for service in known.values():
                for other, how in service.get("depends_on", {}).items():
                    if how["condition"] == "service_healthy":
                        # The image of Satchel has a check of its own.
                        self.assertTrue(known[other]["image"] == "satchel" or "healthcheck" in known[other])
                    else:
                        self.assertEqual(how["condition"], "service_completed_successfully")
                        self.assertEqual(known[other]["command"], ["store", "migrate"])


class ScaledComposeTests(unittest.TestCase):
    services = composed("compose.scaled.yaml")["services"]

    def test_two_nodes_of_each_kind_wait_for_one_migration(self):
        roles = {}
        for name, service in self.services.items():
            role = service.get("environment", {}).get("SATCHEL_ROLE")
            if role:
                roles[role] = service["scale"]
                self.assertIn("migrate", service["depends_on"])
        self.assertEqual(roles, {"api": 2, "worker": 2})
        self.assertEqual(self.services["migrate"]["command"], ["store", "migrate"])

    def test_nodes_have_the_keys_as_a_secret_that_they_cannot_change(self):
        for name in ("api", "worker"):
            service = self.services[name]
            self.assertEqual(service["environment"]["SATCHEL_ACCESS_KEYS"], "/run/secrets/" + service["secrets"][0])
            self.assertIn(service["secrets"][0], composed("compose.scaled.yaml")["secrets"])

    def test_who_migrates_is_not_who_serves(self):
        migrates, serves = (variables(self.services[name], GIVEN) for name in ("migrate", "api"))
        self.assertEqual(migrates["PGPASSWORD"], "two")
        self.assertIn("//satchel_owner@", migrates["SATCHEL_STORE"])
        self.assertEqual(serves["PGPASSWORD"], "one")
        self.assertIn("//satchel@", serves["SATCHEL_STORE"])

    def test_nodes_are_found_again_by_a_version_of_nginx_that_can(self):
        version = tuple(int(part) for part in self.services["nginx"]["image"].split(":")[1].split("."))
        self.assertGreaterEqual(version, (1, 28))
        self.assertIn("server api:8080 resolve ", (DOCKER / "nginx/scaled.conf").read_text(encoding="utf-8"))

    def test_keys_that_an_operator_makes_are_not_committed(self):
        ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
        default = re.search(r":-(.*)\}", composed("compose.scaled.yaml")["secrets"]["access.keys"]["file"]).group(1)
        self.assertIn(str((pathlib.Path("Docker") / default)), ignored)
