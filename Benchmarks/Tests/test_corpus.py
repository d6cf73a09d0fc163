import io
import itertools
import statistics
import subprocess
import unittest

import piexif
from PIL import Image

from bench import Failure
from bench.commands import Command
from bench.corpus import animations, camera, mixed, sources
from bench.corpus.camera import CameraJPEG
from bench.corpus.scene import scene
from bench.corpus.sources import Source, SourceSet
from support import RunTestCase


class CorpusTests(RunTestCase):
    def test_a_scene_follows_from_its_seed_name_and_index_alone(self):
        first, *others = (
            scene(120, 90, *name).tobytes() for name in ((3, "scene", 5), (3, "scene", 5), (4, "scene", 5), (3, "scene", 6), (3, "other", 5)))
        self.assertEqual([first == other for other in others], [True, False, False, False])

    def test_photographs_are_of_the_sizes_qualities_and_kinds_that_cameras_write(self):
        shots = [camera.shot(index, 9) for index in range(camera.SHOTS)]
        megapixels = [shot.width * shot.height / 1e6 for shot in shots]
        self.assertTrue(all(1.9 < one < 24.5 for one in megapixels) and sum(one > 12.5 for one in megapixels) == 1)
        self.assertAlmostEqual(statistics.mean(megapixels), 6, delta=0.2)
        self.assertEqual({round(shot.width / shot.height * 20) / 20 for shot in shots}, {1.35, 1.5, 1.8})
        self.assertEqual(sum(shot.file.orientation in (camera.QUARTER_TURN, camera.THREE_QUARTER_TURN) for shot in shots), 6)
        qualities = [shot.file.quality for shot in shots]
        self.assertEqual((min(qualities), max(qualities)), (75, 97))
        self.assertEqual({shot.file.subsampling for shot in shots}, {"4:2:0", "4:2:2", "4:4:4"})
        self.assertEqual(sum(shot.file.is_progressive for shot in shots), 2)
        self.assertFalse(any(shot.file.is_progressive and shot.file.has_preview for shot in shots))
        self.assertEqual([camera.shot(index, 9) for index in range(camera.SHOTS)], shots)
        self.assertNotEqual([camera.shot(index, 8).look for index in range(camera.SHOTS)], [shot.look for shot in shots])

    def test_a_cameras_file_is_what_it_says_with_a_preview(self):
        picture, file = scene(640, 400, 1, "camera", 0), self.home / "one.jpg"
        for (name, layout), is_progressive in itertools.product({"4:2:0": (2, 2), "4:2:2": (2, 1), "4:4:4": (1, 1)}.items(), (False, True)):
            CameraJPEG(90, name, is_progressive, camera.THREE_QUARTER_TURN, has_preview=True).write(picture, file)
            with Image.open(file) as image:
                image.load()
                self.assertEqual((image.layer[0][1:3], "progressive" in image.info), (layout, is_progressive))
            exif = piexif.load(str(file))
            self.assertEqual(exif["0th"][piexif.ImageIFD.Orientation], 8)
            self.assertGreaterEqual(len(exif["Exif"][piexif.ExifIFD.MakerNote]), 2000)
            self.assertEqual(Image.open(io.BytesIO(exif["thumbnail"])).size, (160, 100))

    def test_a_photograph_has_the_bytes_it_is_to_have_and_its_orientation(self):
        file = self.home / "one.jpg"
        camera.write_of_bytes(scene(800, 600, 1, "photograph", 0), file, 150_000, camera.QUARTER_TURN)
        self.assertAlmostEqual(file.stat().st_size, 150_000, delta=20_000)
        self.assertEqual(Command(["vipsheader", "-f", "orientation", file]).text().strip(), "6")

    def test_a_drawing_follows_from_its_seed_and_a_sticker_alone_is_transparent(self):
        script = animations.__file__.replace("animations.py", "drawings.py")

        def drawn(kind, seed, name):
            file = self.home / name
            Command([animations.sys.executable, script, kind, seed, 200, 160, 12, 7, file]).run()
            return file

        for kind in ("screen", "lines", "sticker"):
            first = drawn(kind, 1, "first.gif")
            self.assertEqual(first.read_bytes(), drawn(kind, 1, "again.gif").read_bytes())
            self.assertNotEqual(first.read_bytes(), drawn(kind, 2, "other.gif").read_bytes())
            info = Command(["gifsicle", "--info", first]).text()
            for words in ("logical screen 200x160", "delay 0.07s", "12 images"):
                self.assertIn(words, info)
            self.assertEqual("disposal background" in info, kind == "sticker")

    def test_a_mixed_directory_has_every_kind_of_media_and_of_junk(self):
        kinds = [mixed.kind(index) for index in range(40)]
        self.assertEqual(set(kinds[:20]) - set(mixed._JUNK), set("jpeg png webp gif mp3 wav aac mp4".split()))
        self.assertEqual({kind for index, kind in enumerate(kinds) if not mixed.is_media(index)}, set(mixed._JUNK))


class SourceTests(RunTestCase):
    def test_words_are_of_the_files_that_are_measured(self):
        def words(*found):
            return SourceSet([Source("", *one) for one in found])

        one = words((4000, 3000, 30, 19_960))
        self.assertEqual((one.photographs, one.animations, one.pictures), (
            "1 photograph of 12 MP", "1 GIF of 30 frames", "1 picture of 20 kB"))
        several = words((1600, 1200, 2, 900), (6000, 4000, 125, 17_400), (2000, 1000, 44, 3000))
        self.assertEqual((several.photographs, several.animations, several.pictures), (
            "3 photographs of 1.9 to 24 MP", "3 GIFs of 2 to 125 frames", "3 pictures of 0.9 to 17 kB"))
        self.assertEqual(words((2000, 1000, 1, 1), (2000, 1010, 1, 1)).photographs, "2 photographs of 2 MP")
        self.assertEqual(words().photographs, "0 photographs")

    def test_of_many_that_are_left_out_the_first_are_named(self):
        notes = SourceSet([], [(f"{index}.jpg", "it is empty") for index in range(25)]).notes
        self.assertEqual((len(notes), notes[0], notes[20]), (
            21, "Left out for everybody: 0.jpg: it is empty", "Left out for everybody: 5 more"))

    def test_damaged_photographs_are_left_out_for_everybody_by_their_own_names(self):
        corpus = self.home / "mine"
        corpus.mkdir()
        for name in ("a-half.jpg", "b-whole.jpg", "d-odd.jpg"):
            CameraJPEG(85).write(scene(320, 240, 1, name, 0), corpus / name)
        half = (corpus / "a-half.jpg").read_bytes()
        (corpus / "a-half.jpg").write_bytes(half[: len(half) // 2])
        (corpus / "c-empty.jpeg").touch()
        Image.new("RGB", (8, 8)).save(corpus / "e-other.jpg", "PNG")
        asked = []

        def refusals(files):
            asked.extend(files)
            return {files[1]: "Satchel doesn't deliver it: corrupt"}

        found = sources.sources(self.run_of("--corpus", str(corpus)), "photographs", None, refusals)
        self.assertEqual((len(asked), found.photographs), (2, "1 photograph of 0.1 MP"))
        left_out = dict(found.left_out)
        self.assertEqual(list(left_out), ["a-half.jpg", "c-empty.jpeg", "e-other.jpg", "d-odd.jpg"])
        self.assertIn("truncated", left_out["a-half.jpg"])
        self.assertEqual(left_out["e-other.jpg"], "it is PNG")
        # Those who take directories find no others.
        self.assertEqual(list(map(str, (self.home / "corpus/photographs").iterdir())), found.files)

    def test_damaged_animations_and_stills_are_left_out_and_nothing_left_is_an_error_that_says_why(self):
        corpus = self.home / "mine"
        corpus.mkdir()
        for name, frames in (("still", 1), ("whole", 7), ("cut", 7)):
            line = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=10", "-frames:v", str(frames)]
            subprocess.run([*line, corpus / f"{name}.gif"], check=True)
        (corpus / "cut.gif").write_bytes((corpus / "cut.gif").read_bytes()[:300])
        run = self.run_of("--corpus", str(corpus))
        found = sources.sources(run, "animations", None, lambda files: {})
        self.assertEqual((found.animations, {name for name, _ in found.left_out}), ("1 GIF of 7 frames", {"still.gif", "cut.gif"}))
        with self.assertRaises(Failure) as caught:
            sources.sources(run, "animations", None, lambda files: {files[0]: "it is refused"})
        self.assertIn("whole.gif: it is refused", str(caught.exception))
        self.assertIn("still.gif", str(caught.exception))

    def test_a_corpus_of_ones_own_gives_each_kind_alone(self):
        corpus = self.home / "mine/deeper"
        corpus.mkdir(parents=True)
        for name in ("a.JPG", "b.gif", "deeper.jpeg", "note.txt"):
            (corpus / name).write_text(name)

        def found(kind):
            return sources.own_files(self.home / "mine", kind, self.home / "links" / kind)

        self.assertEqual([len(found(kind)[1]) for kind in ("photographs", "animations")], [2, 1])
        place, names = found("files")
        self.assertEqual(names, ["deeper/a.JPG", "deeper/b.gif", "deeper/deeper.jpeg", "deeper/note.txt"])
        self.assertEqual([file.suffix for file in sorted(place.iterdir())], [".jpg", ".gif", ".jpeg", ".txt"])
        (corpus / "b.gif").unlink()
        with self.assertRaises(Failure):
            found("animations")


if __name__ == "__main__":
    unittest.main()
