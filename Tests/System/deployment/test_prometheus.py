"""Alerts, dashboard and what is scraped: Prometheus takes them, and they ask for what the service tells."""

import os
import subprocess
import unittest

import metrics
from deployment import DOCKER, ROOT


class PrometheusTests(unittest.TestCase):
    def test_rules_and_configuration_are_prometheus_own(self):
        for kind, name in (("rules", "alerts.yml"), ("config", "prometheus.yml")):
            with self.subTest(name):
                told = subprocess.run(
                    ["promtool", "check", kind, DOCKER / "prometheus" / name], capture_output=True, text=True, check=False)
                self.assertEqual(told.returncode, 0, told.stdout + told.stderr)

    def test_alerts_and_dashboard_ask_for_what_is_told_and_show_all_of_it(self):
        here = os.getcwd()
        os.chdir(ROOT)
        self.addCleanup(os.chdir, here)
        self.assertEqual(list(metrics.complaints()), [])


if __name__ == "__main__":
    unittest.main()
