"""Numbers that follow from a seed."""

import zlib

import numpy


def chance(seed, name, index=0):
    """A generator of its own for each name and index, whatever else is made of the seed."""
    return numpy.random.default_rng([seed, zlib.crc32(name.encode()), index])


def log_uniform(random, least, most):
    return least * (most / least) ** random.random()
