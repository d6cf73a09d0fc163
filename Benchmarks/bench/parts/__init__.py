"""Everything that can be measured: a module of this package each, and one line in PARTS."""

from dataclasses import dataclass
from typing import Callable

from . import (
    animations, callbacks, clips, cores, deadlines, delivery, growth, isolation, jobs, memory, mixed, neighbours, notifications,
    overhead, overload, photographs, placeholders, scale, sizes, soak, storm, store, trims, uploads,
)


@dataclass(frozen=True)
class Part:
    name: str  # named by it in `--only` and in the results: never changed
    summary: str
    measure: Callable  # of a Run, giving Findings
    is_in_short_run: bool = True  # whether `make bench` has it, or `make bench-full` alone


# In the order in which they are measured.
PARTS = [
    Part("photographs", "photographs to 1024 and 300 pixels: Satchel, peers and the floor", photographs.measure),
    Part("sizes", "CPU of a photograph by its megapixels", sizes.measure_photographs, False),
    Part("storm", "small pictures in thousands, beside a bare loop of libvips", storm.measure),
    Part("cores", "what a second core gains, beside loops of vipsthumbnail", cores.measure),
    Part("isolation", "what a process of its own costs each source", isolation.measure),
    Part("overhead", "what there is beside pixels: a batch's start, a source, and a service at rest", overhead.measure),
    Part("animations", "GIFs to 320 pixels: CPU, bytes and fidelity", animations.measure),
    Part("frames", "CPU of a GIF by its frames", sizes.measure_animations, False),
    Part("mixed", "a directory of photographs, pictures, clips, sounds and junk", mixed.measure),
    Part("trims", "cutting 10 s out of a minute, copied and at a frame", trims.measure),
    Part(
        "clips", "copy trims, posters, transcodes and a look at videos and recordings: Satchel, peers and the floor",
        clips.measure),
    Part("placeholders", "ThumbHash and BlurHash of a picture", placeholders.measure),
    Part(
        "memory", "what a source of 1 GB adds to the memory of the service; all memory under a mix of costly sources",
        memory.measure),
    Part("store", "what a store is asked, by how much it holds: up to 1,000,000 with --full", store.measure),
    Part("growth", "cost against pixels, frames and seconds, which should be linear", growth.measure),
    Part("jobs", "photographs over HTTP beside a batch of them; latency against load", jobs.measure),
    Part("lanes", "latency of small pictures beside 4K videos", neighbours.measure_lanes, False),
    Part("fairness", "answers to one tenant beside another's flood and its slow origins", neighbours.measure_fairness, False),
    Part("callbacks", "calls to callbacks a second, alone and beside a receiver that doesn't answer", callbacks.measure),
    Part(
        "notifications", "how late notifications fire beside 1,000,000 (short run: 100,000), their handover, jobs beside it, a preview",
        notifications.measure),
    Part("uploads", "an upload of 1 GB beside a job with that body; jobs beside 1,000 slow uploads", uploads.measure),
    Part("delivery", "content over HTTP beside nginx", delivery.measure),
    Part("scale", "nodes over PostgreSQL and a bucket: what a job costs each, and what more nodes gain", scale.measure, False),
    Part("soak", "what 1,000 mixed jobs leave behind", soak.measure, False),
    Part("overload", "ten times as much as the service can do, for a minute", overload.measure, False),
    Part("deadlines", "deadlines of 50 ms to 30 s: lateness, and what is delivered", deadlines.measure, False),
]
