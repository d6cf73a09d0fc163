"""Files that are damaged, lie, or are no media."""

from . import Kit, chunk, png, sample

JPEG = dict(kind="image", type="image/jpeg")


def cut(path, share):
    return lambda kit, out: out.write_bytes(whole(kit, path)[: int(len(whole(kit, path)) * share)])


def whole(kit: Kit, path):
    return (kit.media / path).read_bytes()


def content(data):
    return lambda kit, out: out.write_bytes(data.encode() if isinstance(data, str) else data)


sample("trouble/truncated.jpg", cut("jpeg/coffee.jpg", 0.5), of="coffee", traits="truncated",
       state="failed", code="corrupt", width=600, height=400, **JPEG)
sample("trouble/page.jpg", content("<!DOCTYPE html>\n<html><head><title>Not a photo</title></head>"
                                   "<body><p>404</p></body></html>\n"),
       traits="mislabelled, html", state="skipped", code="unrecognized_type")
sample("trouble/empty.jpg", content(b""), traits="empty", state="skipped")


def vast_png(kit: Kit, out):
    header = (100_000).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    data = png(8, 8, [bytes(24)] * 8)
    out.write_bytes(data[:8] + chunk(b"IHDR", header) + data[33:])


sample("trouble/vast.png", vast_png, traits="lying dimensions", state="failed", code="too_many_pixels",
       kind="image", type="image/png", width=100_000, height=100_000)
