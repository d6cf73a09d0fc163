"""What several modules need."""
import subprocess
import sys
import time


def say(text):
    print(text, flush=True)


def run(*command, **options):
    """A command that must succeed; what it printed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        told = done.stderr.strip()
        told = told if len(told) < 2400 else f"{told[:1600]} … {told[-800:]}"
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}: {told}")
    return done.stdout


def wait_for(what, ask, patience=90):
    """Asks until the answer is true."""
    end = time.monotonic() + patience
    reason = "it isn't so"
    while time.monotonic() < end:
        try:
            if answer := ask():
                return answer
        except (OSError, RuntimeError) as error:
            reason = error
        time.sleep(0.1)
    sys.exit(f"waited {patience} s for {what}: {reason}")
