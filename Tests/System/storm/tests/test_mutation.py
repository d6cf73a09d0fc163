import random
import unittest

from storm import mutation


class MutationTests(unittest.TestCase):
    SAMPLES = [("a.bin", bytes(range(256)) * 8), ("b.mp4", b"\0\0\0\x10ftypisom\0\0\0\0\0\0\0\x18moov\0\0\0\x10trak" + bytes(8)),
               ("c.bin", b"x")]

    def test_a_number_is_the_same_bytes_in_every_run(self):
        first = [mutation.mutant(1, n, self.SAMPLES) for n in range(300)]
        self.assertEqual(first, [mutation.mutant(1, n, self.SAMPLES) for n in range(300)])
        self.assertNotEqual(first, [mutation.mutant(2, n, self.SAMPLES) for n in range(300)])
        self.assertEqual({kind for kind, _, _ in first}, {*mutation.KINDS, "foreign"})

    def test_most_are_changed_and_none_grows_without_bounds(self):
        changed = 0
        for number in range(2000):
            _, name, data = mutation.mutant(3, number, self.SAMPLES)
            original = dict(self.SAMPLES)[name]
            changed += data != original
            self.assertLessEqual(len(data), 30 * len(original) + 70_000)
        self.assertGreater(changed, 1700)

    def test_boxes_are_nested_in_boxes_of_their_kind(self):
        data = self.SAMPLES[1][1]
        nested = [mutation.nested(data, random.Random(n)) for n in range(20)]
        self.assertTrue(any(result.count(b"moov") > 5 for result in nested))
