import json
import math
import subprocess
import sys
import unittest
from xml.etree import ElementTree

from bench import Failure, processes
from bench.__main__ import options
from bench.commands import Command, Usage, run_loops
from bench.contenders import peers, services, tasks
from bench.contenders.contest import Contender, Contest
from bench.contenders.tasks import STILLS
from bench.corpus import camera
from bench.corpus.scene import scene
from bench.figures import FLOOR, OWN, PEER, RATIO, Axis, Bar, Column, Comparison, Findings, Line, Plot, Row
from bench.figures import median, percentile, percentiles, quotient, spread_text
from bench.judges import animations, stills, verdicts
from bench.machine import Machine, version_in
from bench.parts import PARTS
from bench.parts.growth import exponent, worst
from bench.plots import draw, label
from bench.results import PartResult, Results
from support import RunTestCase


class FigureTests(unittest.TestCase):
    def test_percentiles_are_values_that_occur_by_rank(self):
        self.assertEqual(percentiles(range(1, 101)), {"p50": 50, "p95": 95, "p99": 99})
        self.assertEqual((percentile(0.99, [3]), percentile(0, [2, 1]), percentile(0.5, [])), (3, 1, math.inf))

    def test_what_there_is_nothing_to_divide_by_is_a_dash(self):
        self.assertTrue(math.isnan(quotient(1, 0)))
        self.assertEqual(spread_text([math.nan], "ms"), "–")
        self.assertEqual(spread_text([3, math.nan, 1, 2], "ms"), "2.0 ms (1.0 – 3.0)")
        self.assertEqual(spread_text([2], RATIO), "2.00")

    def test_values_are_said_shortly(self):
        for value, text in ((0, "0"), (0.5, "0.5"), (7, "7"), (12.25, "12.2"), (340, "340"), (25_000, "25k"), (1_000_000, "1M")):
            self.assertEqual(label(value), text)

    def test_growth_is_the_slope_of_the_power_law(self):
        self.assertAlmostEqual(exponent([1, 2, 4, 8], [3, 12, 48, 192]), 2)
        self.assertAlmostEqual(worst([1, 2, 4], [1, 1.5, 6]), 2)

    def test_versions_are_found_in_what_programs_say(self):
        for words, version in (
            ("vips-8.14.1", "8.14.1"), ("Version: ImageMagick 6.9.11-60 Q16", "6.9.11-60"), ("no version", None)):
            self.assertEqual(version_in(words), version)


class CommandTests(unittest.TestCase):
    def test_processor_time_includes_children_that_were_waited_for(self):
        burn = f"{sys.executable} -c 'sum(range(8_000_000))'"
        usage = Command(["sh", "-c", f"{burn}; true"]).run()
        self.assertGreater(usage.cpu, 0.02)
        both = run_loops([[Command(["sh", "-c", burn])] * 2, [Command(["true"])]])
        self.assertGreater(both.cpu, usage.cpu)

    def test_what_fails_says_how_and_what_it_said(self):
        for line, words in (
            (["sh", "-c", "echo why >&2; exit 3"], "exit status 3\nwhy"), (["sh", "-c", "kill -9 $$"], "signal 9"),
            (["/nowhere/at-all"], "No such file")):
            with self.assertRaises(Failure) as caught:
                Command(line).run()
            self.assertIn(words, str(caught.exception))
        Command(["sh", "-c", "exit 1"], accepted=(0, 1)).run()

    def test_memory_is_that_of_all_processes_beneath_and_of_none_that_ran_before(self):
        grow = "b = b'x' * 60_000_000; import time; time.sleep(0.5)"
        before = subprocess.Popen([sys.executable, "-c", grow.replace("0.5", "30")])
        try:
            line = f"{sys.executable} -c \"{grow}\" & {sys.executable} -c \"{grow}\"; wait"
            _, peak = processes.peak_memory(Command(["sh", "-c", line]).run)
        finally:
            before.kill()
            before.wait()
        self.assertTrue(115e6 < peak < 170e6, peak)

    def test_a_tree_has_the_children_of_children(self):
        running = subprocess.Popen(["sh", "-c", "sh -c 'sleep 30 & echo; wait' & wait"], stdout=subprocess.PIPE)
        running.stdout.readline()
        found = processes.tree(running.pid)
        self.assertEqual(len(found), 3)
        for process in found:
            process.kill()
        running.wait()
        running.stdout.close()


class ContestTests(RunTestCase):
    def hold(self, contenders, look=lambda contender, place: {}, **more):
        run = self.run_of("--rounds", "2")
        return Contest(run, "test", "Test", "thing", ["a", "b"], "right", contenders, **more).hold(look)

    def test_who_makes_something_else_has_no_figure_but_a_reason(self):
        def look(contender, place):
            if contender.name == "wrong":
                raise ValueError("Wrong")
            return {}

        comparison = self.hold([
            Contender("right", "Right", OWN, lambda sources, place: Usage(1, 2)),
            Contender("wrong", "Wrong", PEER, lambda sources, place: Usage(1, 1)), Contender.absent("gone", "Gone", "isn't there"),
        ], look)
        self.assertEqual((comparison.samples("right", "cpu"), comparison.samples("right", "multiple")), ([1000, 1000], [1, 1]))
        right, wrong, gone = comparison.rows
        self.assertEqual((wrong.figures, gone.figures), ({}, {}))
        self.assertIn("Wrong", wrong.absence)
        self.assertIn("isn't there", gone.absence)

    def test_who_breaks_in_a_round_has_no_figure_of_the_rounds_before(self):
        calls = []

        def make(sources, place):
            calls.append(1)
            # The look and a round go well.
            if len(calls) == 3:
                raise Failure("broke")
            return Usage(1, 1)

        row, = self.hold([Contender("breaking", "Breaking", PEER, make)]).rows
        self.assertEqual((row.figures, row.absence), ({}, "broke"))

    def test_one_more_costs_what_many_cost_over_few(self):
        starting = Contender(
            "right", "Right", OWN, lambda sources, place: Usage(1, 10 + 3 * len(sources)), starts_once=True)
        comparison = self.hold([starting], more_sources=["c", "d"])
        self.assertEqual(comparison.samples("right", "cpu_more"), [3000, 3000])
        self.assertEqual(comparison.samples("right", "cpu"), [8000, 8000])

    def test_a_batchs_report_says_which_files_dont_come_out_as_measured(self):
        both = {role: {"media_type": "image/jpeg"} for role in ("main", "thumbnail")}
        lines = [
            {"path": "in/a.jpg", "state": "delivered", "error": None, "renditions": both},
            {"path": "in/b.jpg", "state": "failed", "error": {"code": "corrupt", "message": "It ends."}, "renditions": {}},
            {"path": "in/c.jpg", "state": "delivered", "renditions": {"main": {"media_type": "image/png"}}},
        ]
        program = "import sys; open(sys.argv[-1], 'w').write(sys.argv[1]); sys.exit(1)"
        batch = Command([sys.executable, "-c", program, "\n".join(map(json.dumps, lines))])
        _, found = tasks.report(batch, self.run_of().workplace)
        wanted = dict.fromkeys(("main", "thumbnail"), "image/jpeg")
        self.assertEqual([tasks.refusal(line, wanted) for line in found], [
            None, "Satchel doesn't deliver it: corrupt: It ends.", "Satchel makes another main and thumbnail of it"])


class JudgeTests(RunTestCase):
    def test_the_judge_refuses_a_picture_of_another_size_and_a_better_picture_is_nearer(self):
        run, source = self.run_of(), self.home / "source.jpg"
        camera.write_of_bytes(scene(640, 480, 1, "judged", 0), source, 120_000, camera.QUARTER_TURN)
        made = {quality: self.home / f"{quality}.jpg" for quality in (50, 90)}
        for quality, output in made.items():
            Command(["vipsthumbnail", source, "--size", "200x200", "-o", f"{output}[Q={quality}]"]).run()
        worse, better = verdicts(stills.judge, run, [(source, output, 200) for output in made.values()])
        self.assertLess(worse[2] + 2, better[2])
        self.assertTrue(worse[3] < better[3] < 1)
        with self.assertRaises(Failure):
            verdicts(stills.judge, run, [(source, made[90], 201)])
        # Not turned upright: the same picture on its side.
        Command(["vips", "rot", made[90], self.home / "turned.jpg", "d90"]).run()
        with self.assertRaises(Failure):
            verdicts(stills.judge, run, [(source, self.home / "turned.jpg", 200)])

    def test_an_animation_is_judged_frame_by_frame_and_has_to_last_as_long(self):
        run, files = self.run_of(), {}
        for name, seconds in (("source", 1), ("same", 1), ("shorter", 0.5)):
            files[name] = self.home / f"{name}.gif"
            Command(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=size=64x48:rate=10:duration={seconds}", files[name]]).run()
        self.assertEqual(verdicts(animations.judge, run, [(files["source"], files["same"], 64)]), [(10, 100, 100)])
        with self.assertRaises(Failure):
            verdicts(animations.judge, run, [(files["source"], files["shorter"], 64)])


class PeerTests(unittest.TestCase):
    def test_a_commands_words_keep_what_quotes_hold_together(self):
        words = ["resize", "{input}", "-o {output}", "-w", "{width}"]
        line = next(peers.commands(STILLS, words, "/a b/{width}.jpg", "/place")).line
        self.assertEqual(line, ["resize", "/a b/{width}.jpg", "-o /place/{width}.jpg-1024.jpg", "-w", "1024"])
        self.assertEqual(peers.own(STILLS, "mine=resize '{input}' \"-o {output}\"").name, "peer-mine")

    def test_a_url_has_the_path_escaped_and_the_process_that_serves_it(self):
        self.assertEqual(
            services.url_path("/{width}x{height}/{path}?n={name}", "/in puts/ä?.jpg", 3), "/3x3/in%20puts/%C3%A4%3F.jpg?n=%C3%A4%3F.jpg")
        self.assertEqual(services.own(STILLS, "other@4321=http://127.0.0.1:1/{path}").services, [4321])

    def test_peers_that_cant_be_right_are_refused(self):
        for text in ("nothing", "=x {input} {output}", "a=x {input}", "a=x {input} {output} {size}", "a=x '{input} {output}"):
            self.assertRaises(ValueError, peers.own, STILLS, text)
        for text in ("a=https://x/{path}", "a=http://127.0.0.1/", "a@b=http://127.0.0.1/{path}", "a=http://127.0.0.1/{path}/{colour}"):
            self.assertRaises(ValueError, services.own, STILLS, text)


class ResultTests(RunTestCase):
    def result(self, part, value, failure=None):
        machine = Machine("Test", 2, 8_000_000_000, 0.1, "Linux", "satchel 1", {"libvips": "8"})
        findings = Findings(part, notes=["Left out for everybody: a.jpg: it is PNG"])
        findings.add("some", "Some", [value, value + 1], at_most=5)
        rows = [Row("own", "Satchel", OWN, {"cpu": [value]}), Row("gone", "Gone", PEER, absence="is missing")]
        findings.comparisons = [Comparison("sides", "Sides", [Column("cpu", "CPU", "ms")], rows)]
        findings.plots = [Plot(part, "A plot", Axis("CPU, ms"), bars=[Bar("Satchel", OWN, [value])])]
        return PartResult(part, "short", 3, 7, None, machine, "2026-07-01T00:00:00+00:00", findings, failure)

    def results(self, *results):
        found = Results()
        for result in results:
            found.merge(result)
        return found

    def test_a_parts_new_result_takes_the_place_of_its_old_one_and_of_nothing_else(self):
        found = self.results(self.result("isolation", 1), self.result("photographs", 2), self.result("isolation", 3))
        self.assertEqual([part.part for part in found.parts], ["photographs", "isolation"])
        self.assertEqual(found.parts[1].findings.measurements[0].samples, [3, 4])

    def test_results_are_read_back_as_they_were_written(self):
        found, file = self.results(self.result("photographs", 2)), self.home / "results.json"
        found.write(file)
        self.assertEqual(Results.read(file).parts, found.parts)

    def test_what_is_no_number_is_written_as_null_and_read_back_as_a_dash(self):
        found, file = self.results(self.result("photographs", math.nan)), self.home / "results.json"
        found.write(file)
        self.assertIn("null", file.read_text())
        self.assertNotIn("NaN", file.read_text())
        part, = Results.read(file).parts
        self.assertTrue(math.isnan(median(part.findings.measurements[0].samples)))
        self.assertIn("| Satchel | – ", part.text)
        self.assertNotIn("nan", part.text.lower())
        self.assertIn("a.jpg: it is PNG", part.text)

    def test_a_file_of_another_kind_is_refused_and_not_overwritten(self):
        file = self.home / "results.json"
        file.write_text('{"measurements": []}')
        self.assertRaises(Failure, Results.read, file)

    def test_what_failed_or_was_measured_otherwise_is_measured_again(self):
        found = self.results(self.result("photographs", 2), self.result("cores", 2, failure="broke"))
        parts = {part.name: part for part in PARTS}
        self.assertTrue(found.have(parts["photographs"], options(["--seed", "7"])))
        for part, more in (("cores", []), ("photographs", ["--corpus", "/pictures"]), ("photographs", ["--full"])):
            self.assertFalse(found.have(parts[part], options(["--seed", "7", *more])))

    def test_every_part_has_a_name_of_its_own_and_its_place_on_the_page(self):
        page = (peers.PEERS.parent / "RESULTS.md").read_text()
        self.assertEqual(len({part.name for part in PARTS}), len(PARTS))
        for part in PARTS:
            self.assertIn(f"<!-- results: {part.name} -->\n", page)

    def test_a_page_has_its_figures_replaced_between_the_marks_and_failed_parts_leave_it_alone(self):
        found = self.results(self.result("photographs", 2), self.result("cores", 2, failure="broke"))
        rest = "<!-- end -->\nb\n<!-- results: cores -->\nold\n<!-- end -->\nc"
        filled = found.filled(f"a\n<!-- results: photographs -->\nold\n{rest}")
        self.assertTrue(filled.startswith("a\n<!-- results: photographs -->\n\n**Sides**") and filled.endswith(rest))
        self.assertIn("![A plot](plots/photographs.svg)", filled)
        self.assertEqual(found.filled(filled), filled)

    def test_what_has_no_figure_is_named_below_the_table_with_the_reason(self):
        text = self.result("photographs", 2).text
        self.assertIn("| Satchel | 2.0 ms |", text)
        self.assertIn("No figure for Gone: is missing", text)
        self.assertNotIn("| Gone", text)

    def test_a_drawing_is_xml_whatever_its_labels_and_values_are(self):
        lines = [Line("<p50> & more", OWN, [[1, 2], [10, 20]]), Line("one", PEER, [[1, 5]]), Line("none", FLOOR, [[1, math.nan]])]
        bars = [Bar("a < b", OWN, [1, 2]), Bar("&", PEER, [500])]
        for is_logarithmic in (False, True):
            for plot in (
                Plot("lines", "Lines & points", Axis("x", is_logarithmic), Axis("y", is_logarithmic), lines),
                Plot("bars", "<Bars>", Axis("x", is_logarithmic), bars=bars)):
                draw(plot, self.home / "plot.svg")
                words = "".join(ElementTree.parse(self.home / "plot.svg").getroot().itertext())
                for text in (plot.title, *(one.label for one in plot.lines[:2] + plot.bars)):
                    self.assertIn(text, words)


if __name__ == "__main__":
    unittest.main()
