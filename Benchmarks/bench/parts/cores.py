"""From one core to two: what a batch gains beside loops of vipsthumbnail."""

from ..commands import run_loops, shares, usable_cores
from ..contenders import peers
from ..contenders.tasks import STILLS
from ..corpus.inputs import paths
from ..figures import Findings, ratios


def measure(run):
    """Nothing where there is one core."""
    findings, cores, own, theirs = Findings("cores"), usable_cores()[:2], [], []
    if len(cores) < 2:
        return findings
    peer_sources = paths(run.inputs.camera_roll(0))
    # More than the peer gets, whose rate has no start to make up for.
    sources = peer_sources + paths(run.inputs.camera_roll(1))

    def batch(*cores):
        return STILLS.batch(run, sources, sources_per_process=1).on(*cores).run()

    def calls(sources, core):
        place = run.workplace.scratch
        return [
            call.on(core) for source in sources
            for call in peers.commands(STILLS, peers.VIPSTHUMBNAIL, source, place, peers.VIPS_ENVIRONMENT)]

    for _ in run.turns("cores", most=3):
        one = batch(cores[0])
        peer_on_one = run_loops([calls(peer_sources, cores[0])])
        two = batch(*cores)
        # A loop for each core; two loops share the sources evenly, as both have all sizes.
        peer_on_two = run_loops([calls(share, core) for share, core in zip(shares(peer_sources, 2), cores)])
        own.append(one.wall / two.wall)
        theirs.append(peer_on_one.wall / peer_on_two.wall)
    title = "One core to two: gain of a batch, in terms of two vipsthumbnail loops' gain"
    findings.add("gain_ratio", title, ratios(own, theirs), at_least=0.95)
    findings.add("gain", f"— throughput of a batch of {len(sources)}, as a multiple", own)
    findings.add("peer_gain", "— of two vipsthumbnail loops", theirs)
    return findings
