#!/usr/bin/env python3
"""Computes the machines needed for a rate from the cost of your files: sizing.py JOBS_PER_SECOND, with SATCHEL_URL and
SATCHEL_KEY set (a key with the role admin). Run it after an hour of ordinary work."""
import math
import os
import sys
import urllib.request

request = urllib.request.Request(
    f"{os.environ['SATCHEL_URL']}/metrics", headers={"Authorization": f"Bearer {os.environ['SATCHEL_KEY']}"})
with urllib.request.urlopen(request) as answer:
    lines = answer.read().decode().splitlines()


def total(name):
    """Returns the sum of all series of a metric."""
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.split("{")[0].split(" ")[0] == f"satchel_{name}")


jobs = total("jobs_finished_total")
if not jobs:
    sys.exit("no job has finished yet, so nothing can be computed")
processor = (total("codec_cpu_seconds_sum") + total("process_cpu_seconds_total")) / jobs
memory = total("codec_peak_bytes_sum") / max(1, total("codec_peak_bytes_count"))
stored = total("blob_bytes") / jobs
rate = float(sys.argv[1])
print(f"per job: {processor * 1000:.1f} ms of processor time, {memory / 2**20:.0f} MiB of codec memory, {stored / 1000:.1f} kB stored")
# At 60 % load the queue stays short, even if a machine is lost.
print(f"{rate:g} jobs per second: {math.ceil(rate * processor / 0.6)} processors")
print(f"stored for 30 days: {rate * stored * 30 * 86400 / 1e9:.1f} GB")
