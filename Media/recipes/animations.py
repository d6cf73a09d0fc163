"""Pictures of several frames."""

from . import Kit, sample


def film_frames(kit: Kit, size="240x136", fps=10, count=20):
    kit.ffmpeg("-i", kit.sources["film"], "-vf", f"fps={fps},scale={size.replace('x', ':')}:flags=lanczos",
               "-frames:v", count, kit.work / "frame-%03d.png")
    return sorted(kit.work.glob("frame-*.png"))


def film_gif(kit: Kit, out):
    whole = kit.work / "whole.gif"
    kit.magick("-delay", "10", "-loop", "0", *film_frames(kit), "+dither", "-colors", "64", whole)
    kit.run("gifsicle", "-O3", "--lossy=80", whole, "-o", out)


sample("gif/film.gif", film_gif, of="film", traits="animated, loop forever", kind="animation", type="image/gif",
       width=240, height=136, frames=20, duration=2.0)
