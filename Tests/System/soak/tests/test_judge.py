"""The judge finds each promise that is broken, and nothing where none is."""
import random
import unittest
import xml.etree.ElementTree

from history.tests.simulator import Simulator
from soak import plot
from soak.judge import HELD, RULES, Verdict, growth

# What a service holds at rest, and how much that varies from sample to sample.
LEVELS = {"service": (40, 2), "memory": (150, 15), "descriptors": (90, 6), "processes": (6, 1.5), "files": (2, 0.5)}
# Three lives of a quarter of an hour each.
TIMES = [(4.0 * n, n // 225) for n in range(675)]


def samples(seed=0, changed=None, by=lambda at, life, began: 0):
    """Of a service that is flat but for one thing, to which `by` adds: after `at` seconds, of which its life began `began` ago."""
    chance = random.Random(seed)
    return [
        {"at": at, "life": life, **{
            name: level + chance.gauss(0, spread) + (by(at, life, at - 900 * life) if name == changed else 0)
            for name, (level, spread) in LEVELS.items()}}
        for at, life in TIMES]


class JudgeTests(unittest.TestCase):
    def setUp(self):
        self.world = Simulator()
        for _ in range(3):
            self.world.submit()

    def verdict(self, found=None, end=(), changed=lambda history: None):
        history = self.world.history()
        changed(history)
        return Verdict(history, found or samples(), list(end))

    def test_a_service_that_is_flat_is_sound_whatever_the_seed(self):
        for seed in range(20):
            verdict = self.verdict(samples(seed))
            self.assertEqual(verdict.growing, [], seed)
            self.assertTrue(verdict.is_sound)

    def test_what_leaks_is_found_and_nothing_else(self):
        for held in HELD:
            # Twice what it may grow in three quarters of an hour; in each life anew, where a life begins it anew.
            leak = 2 * held.growth / 2700
            found = samples(changed=held.name, by=lambda at, life, began: leak * (began if held.is_of_life else at))
            self.assertEqual(self.verdict(found).growing, [held.name])

    def test_a_kill_hides_no_leak(self):
        found = samples(changed="service", by=lambda at, life, began: began / 60)
        self.assertEqual(self.verdict(found).growing, ["service"])

    def test_what_a_fault_leaves_is_found(self):
        found = samples(changed="descriptors", by=lambda at, life, began: 40 * (life == 1 and began > 500))
        self.assertEqual(self.verdict(found).growing, ["descriptors"])

    def test_what_a_fault_does_meanwhile_is_no_growth(self):
        found = samples(changed="memory", by=lambda at, life, began: 400 * (700 < began < 725))
        self.assertEqual(self.verdict(found).growing, [])

    def test_what_work_underway_takes_is_no_growth_where_there_is_more_of_it_at_the_end(self):
        chance = random.Random(2)
        found = samples(changed="memory", by=lambda at, life, began: 45 * (chance.random() < (0.25 if began < 600 else 0.45)))
        self.assertEqual(self.verdict(found).growing, [])

    def test_what_is_made_on_first_use_is_no_growth(self):
        found = samples(changed="service", by=lambda at, life, began: min(30, began / 4))
        self.assertEqual(self.verdict(found).growing, [])

    def test_a_life_that_was_too_short_says_nothing(self):
        self.assertIsNone(growth([]))
        self.assertIsNone(growth([(n, 1) for n in range(12)]))
        self.assertEqual(self.verdict(samples()[:10]).growing, [held.name for held in HELD])

    def test_what_is_left_at_the_end_is_found(self):
        self.assertFalse(self.verdict(end=["2 processes of codecs are left"]).is_sound)

    def test_a_500_is_found_and_a_refusal_is_not(self):
        self.world.call("submit", 507, name="full", key="full", asked=None, bytes="full", job=None, code="insufficient_storage")
        self.assertTrue(self.verdict().is_sound)
        self.world.call("submit", 500, name="broken", key="broken", asked=None, bytes="broken", job=None, code="internal")
        self.assertEqual(len(self.verdict().errors), 1)

    def test_what_was_accepted_and_did_not_end_once_is_found(self):
        def undone(history):
            history.tables["jobs"] = [{**row, "state": "pending"} for row in history.tables["jobs"]]

        def twice(history):
            history.tables["witness"] = history.tables["witness"] + [{**history.tables["witness"][-1], "seq": 1000}]

        for rule, changed in (
                ("each acknowledged job came to its end", undone),
                ("each generation ended once, under the claim that held it", twice)):
            found = self.verdict(changed=changed)
            self.assertEqual([name for name, (_, wrong) in found.rules.items() if wrong], [rule])
            self.assertFalse(found.is_sound)
        self.assertEqual(set(found.rules), set(RULES))

    def test_the_plot_is_well_formed_and_has_a_panel_for_all(self):
        faults = [{"what": "the <disk> is full", "start": 100, "end": 125}, {"what": "the clock steps", "start": 300, "end": 325}]
        drawn = xml.etree.ElementTree.fromstring(plot.draw(samples(), faults, [at for at, _ in TIMES], "Three quarters & more"))
        words = " ".join(drawn.itertext())
        for word in [held.title for held in HELD] + ["the <disk> is full", "Three quarters & more"]:
            self.assertIn(word, words)


if __name__ == "__main__":
    unittest.main()
