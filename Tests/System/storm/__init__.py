"""Samples that were changed at random, sent through a batch and through a service, and what is left of both.

    python3 -m storm [--count N] [--first N] [--seed S] PROGRAM      with Tests on PYTHONPATH; PROGRAM is satchel, its codecs beside it

What is done follows from the seed: mutant number 17 of seed 1 is the same bytes in each run. A rule that doesn't hold is told at the
end, and its mutants are kept under `.build/storm/SEED`.
"""
