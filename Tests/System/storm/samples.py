"""Files of Media that are small, and those among them that are good in every part."""
import json
from pathlib import Path

MEDIA = Path(__file__).resolve().parents[3] / "Media"
# Larger samples say no more, and take longer.
MOST = 150_000
PICTURES = ("jpeg", "png", "gif", "webp")


def load():
    """All of them, as names and bytes, and of these the quick ones that are delivered."""
    files = sorted(p for p in MEDIA.rglob("*") if p.is_file() and p.parent.name not in ("recipes", "notifications"))
    samples = [
        (str(p.relative_to(MEDIA)), p.read_bytes()) for p in files
        if p.suffix not in (".py", ".sh", ".md", ".json") and 0 < p.stat().st_size <= MOST]
    expected = {f["path"]: f["expect"] for f in json.loads((MEDIA / "manifest.json").read_text())["files"]}
    neighbours = [
        (n, d) for n, d in samples
        if len(d) < 40_000 and n.split("/")[0] in PICTURES and expected[n]["state"] == "delivered"]
    return samples, neighbours
