"""Measures Satchel beside the programs and libraries that people use instead."""


class Failure(Exception):
    """Something didn't do what is measured; says what, and why."""
