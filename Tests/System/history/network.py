"""Network namespaces on one bridge, between which packets can be dropped in either direction.

Whoever runs this is in a namespace of its own (Tests/System/history.sh), so nothing of it is left. No packet filter is needed: each place
knows the others' hardware addresses, and what it shouldn't reach it sends to one that nobody has.
"""
import os
import subprocess

from history.tools import run, wait_for

NOBODY = "02:00:00:00:00:ff"
HERE = "10.77.0.1"


class Place:
    """A network namespace, which lives as long as its holder."""

    def __init__(self, network, name, number, addresses):
        self.name, self.addresses = name, addresses
        self.hardware = f"02:00:00:00:00:{number:02x}"
        self.holder = subprocess.Popen(["unshare", "--net", "--", "sleep", "infinity"])
        self.namespace = f"/proc/{self.holder.pid}/ns/net"
        wait_for("a network namespace", lambda: os.readlink(self.namespace) != os.readlink("/proc/self/ns/net"))
        run("ip", "link", "add", f"v{number}", "type", "veth", "peer", "name", "eth0", "netns", self.holder.pid)
        run("ip", "link", "set", f"v{number}", "master", network.bridge, "up")
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "link", "set", "eth0", "address", self.hardware, "up")
        for address in addresses:
            self.run("ip", "address", "add", f"{address}/24", "dev", "eth0")

    @property
    def address(self):
        return self.addresses[0]

    def command(self, *words):
        """A command line that runs there, as the process that it starts."""
        return ["nsenter", f"--net={self.namespace}", "--", *map(str, words)]

    def run(self, *words):
        return run(*self.command(*words))

    def reach(self, other, can=True):
        """Whether what this place says gets to another."""
        for address in other.addresses:
            self.run("ip", "neigh", "replace", address, "lladdr", other.hardware if can else NOBODY, "nud", "permanent", "dev", "eth0")


class Network:
    bridge = "bridge"

    def __init__(self):
        self.places = []
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", self.bridge, "type", "bridge")
        run("ip", "link", "set", self.bridge, "up")
        run("ip", "address", "add", f"{HERE}/24", "dev", self.bridge)

    def place(self, name, *addresses):
        place = Place(self, name, len(self.places) + 1, addresses)
        for other in self.places:
            place.reach(other)
            other.reach(place)
        self.places.append(place)
        return place
