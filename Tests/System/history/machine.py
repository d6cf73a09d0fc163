"""The machine of a process: its wall clock and its scratch disk, which a preloaded library of our own makes differ (machine.c)."""
import mmap
import os
import pathlib
import struct

from history.tools import run


def build(directory):
    """Compiles the library."""
    library = directory / "machine.so"
    run("cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, pathlib.Path(__file__).with_name("machine.c"))
    return library


class Machine:
    """The true time and a fast disk, until something else is set. Several processes may share a machine."""

    def __init__(self, library, page):
        page.write_bytes(struct.pack("<qqQ", 0, 0, 0))
        page.chmod(0o644)
        with open(page, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 0)
        # For the program alone: what starts it may be another user's.
        self.settings = ["env", f"LD_PRELOAD={library}", f"MACHINE={page}"]

    def set_clock(self, offset):
        """Seconds beside the truth."""
        struct.pack_into("<q", self.page, 0, int(offset * 10 ** 9))

    def set_disk(self, pause, directory):
        """Seconds that each write to the disk of a directory takes longer."""
        struct.pack_into("<qQ", self.page, 8, int(pause * 10 ** 9), os.stat(directory).st_dev)


class Disk:
    """A file system in memory, which can be full."""

    SIZE = 128 << 20

    def __init__(self, directory):
        self.directory = directory
        directory.mkdir()
        run("mount", "-t", "tmpfs", "-o", f"size={self.SIZE},mode=1777", "tmpfs", directory)

    def fill(self):
        """Takes all that is free."""
        with open(self.directory / "full", "wb", buffering=0) as file:
            for size in (1 << 20, 4096):
                try:
                    while file.write(bytes(size)) == size:
                        pass
                except OSError:
                    pass

    def empty(self):
        (self.directory / "full").unlink()
