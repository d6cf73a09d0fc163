"""What checks have in common: what they expect, and a network of their own."""

import ctypes
import subprocess

CLONE_NEWNET = 0x40000000

passed = 0


def expect(condition, sentence, evidence=""):
    """One thing that must be so."""
    global passed
    if not condition:
        raise SystemExit(f"FAILED: {sentence}\n{evidence}")
    passed += 1
    print(f"  ok  {sentence}", flush=True)


def own_network():
    """Enters a network of this check's own: ports are free, and nothing leaves the machine."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
