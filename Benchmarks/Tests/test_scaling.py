"""The model of more nodes, on points of a service whose costs are known."""

import io
import json
import unittest

import scaling

_KNOWN = scaling.Model(
    job=0.03, rest=0.02, contention=0.05, database=0.002, database_rest=0.01, bucket=0.004, log=7000, kept=3000)


def _point(nodes, quota):
    rate = _KNOWN.rate(nodes, quota)
    return scaling.Point(nodes, quota, rate, nodes * quota / rate, _KNOWN.database + nodes * _KNOWN.database_rest / rate, _KNOWN.bucket)


class ScalingTests(unittest.TestCase):
    def fitted(self):
        return scaling.Model.fitted([_point(1, 0.2), _point(1, 0.4), _point(2, 0.2)], log=7000, kept=3000)

    def test_the_costs_of_a_known_service_are_found(self):
        model = self.fitted()
        for name in ("job", "rest", "contention", "database", "database_rest", "bucket"):
            self.assertAlmostEqual(getattr(model, name), getattr(_KNOWN, name), places=6, msg=name)

    def test_points_that_were_not_fitted_are_forecast(self):
        for nodes, quota in ((4, 0.2), (2, 0.4), (16, 4)):
            self.assertAlmostEqual(self.fitted().rate(nodes, quota), _KNOWN.rate(nodes, quota), places=3)

    def test_what_ends_first_is_named(self):
        model = self.fitted()
        self.assertEqual(model.forecast(1, 4, 16, 100e6, 5000)[1], "the nodes")
        self.assertEqual(model.forecast(1000, 400, 1, 1e12, 1e9)[1], "PostgreSQL's processors")
        self.assertEqual(model.forecast(10, 400, 1000, 7000, 1e9), (1, "its log"))
        self.assertEqual(model.forecast(10, 400, 1000, 1e12, 40), (10, "the bucket's requests"))

    def test_the_model_is_read_back_from_results(self):
        points = [(point, point.nodes, point.quota) for point in (_point(1, 0.2), _point(1, 0.4), _point(2, 0.2))]
        rows = [
            {"name": f"{nodes}x{quota}", "title": "", "figures": {
                "rate": [point.rate], "node": [point.node * 1e3], "database": [point.database * 1e3], "bucket": [point.bucket * 1e3]}}
            for point, nodes, quota in points]
        rows.append({"name": "4x0.2", "title": "4 of 0.2 processors, not fitted", "figures": {
            "rate": [1], "node": [1], "database": [1], "bucket": [1]}})
        measurements = [{"name": "scale.log", "samples": [7]}, {"name": "scale.kept", "samples": [3]}]
        file = io.StringIO(json.dumps([{
            "part": "scale", "failure": None, "findings": {"comparisons": [{"rows": rows}], "measurements": measurements}}]))
        self.assertAlmostEqual(scaling.read(file).contention, _KNOWN.contention, places=6)

    def test_where_nothing_was_measured_it_says_how(self):
        with self.assertRaisesRegex(ValueError, "--only scale"):
            scaling.read(io.StringIO("[]"))


if __name__ == "__main__":
    unittest.main()
