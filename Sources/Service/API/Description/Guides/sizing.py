#!/usr/bin/env python3
"""What your own files cost, and so how many machines a rate takes: sizing.py JOBS_A_SECOND, with SATCHEL_URL and SATCHEL_KEY (a key
of an administrator). Let the service do an hour of ordinary work first."""
import math
import os
import sys
import urllib.request

request = urllib.request.Request(
    f"{os.environ['SATCHEL_URL']}/metrics", headers={"Authorization": f"Bearer {os.environ['SATCHEL_KEY']}"})
with urllib.request.urlopen(request) as answer:
    lines = answer.read().decode().splitlines()


def total(name):
    """All series of a metric together."""
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.split("{")[0].split(" ")[0] == f"satchel_{name}")


jobs = total("jobs_finished_total")
if not jobs:
    sys.exit("no job has ended yet: there is nothing to go by")
processor = (total("codec_cpu_seconds_sum") + total("process_cpu_seconds_total")) / jobs
memory = total("codec_peak_bytes_sum") / max(1, total("codec_peak_bytes_count"))
stored = total("blob_bytes") / jobs
rate = float(sys.argv[1])
print(f"a job: {processor * 1000:.1f} ms of a processor, {memory / 2**20:.0f} MiB while a codec has it, {stored / 1000:.1f} kB kept")
# At 0.6 of what it can do a queue is short, and a machine that is lost doesn't make it long.
print(f"{rate:g} jobs a second: {math.ceil(rate * processor / 0.6)} processors")
print(f"kept for 30 days: {rate * stored * 30 * 86400 / 1e9:.1f} GB")
