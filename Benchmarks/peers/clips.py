"""Cuts, looks at and encodes clips with PyAV, in one process.

    clips.py TASK SECONDS SIDE (SOURCE OUTPUT)...

TASK is one of trim (the packets of the first SECONDS, copied), poster (the first picture, SIDE pixels wide), transcode
(H.264, SIDE pixels wide, sound copied) and inspect (what is told of the streams, as text).
"""

import sys

import av
from av.video.reformatter import Interpolation


def trim(source, output, seconds, side):
    with av.open(source) as reader, av.open(output, "w") as writer:
        copies = {stream.index: writer.add_stream_from_template(stream) for stream in reader.streams}
        done = set()
        for packet in reader.demux():
            if packet.dts is None:
                continue
            if packet.pts * packet.time_base >= seconds:
                # A picture that is decoded before the end may be shown after it.
                if packet.dts * packet.time_base >= seconds:
                    done.add(packet.stream_index)
                if len(done) == len(copies):
                    break
                continue
            packet.stream = copies[packet.stream_index]
            writer.mux(packet)


def poster(source, output, seconds, side):
    with av.open(source) as reader:
        picture = next(reader.decode(video=0))
        height = round(picture.height * side / picture.width / 2) * 2
        picture.to_image(width=side, height=height).save(output, quality=80)


def transcode(source, output, seconds, side):
    with av.open(source) as reader, av.open(output, "w") as writer:
        video, sound = reader.streams.video[0], reader.streams.audio[0]
        video.thread_count = 1
        coded = writer.add_stream("libx264", rate=video.average_rate)
        coded.width, coded.height = side, round(video.height * side / video.width / 2) * 2
        coded.pix_fmt = "yuv420p"
        coded.thread_count = 1
        coded.options = {"preset": "veryfast", "crf": "23", "profile": "high", "g": "100"}
        copied = writer.add_stream_from_template(sound)
        done = set()
        for packet in reader.demux(video, sound):
            if packet.dts is None or packet.stream_index in done:
                continue
            if packet.stream_index == sound.index:
                if packet.pts * packet.time_base >= seconds:
                    done.add(sound.index)
                    continue
                packet.stream = copied
                writer.mux(packet)
            else:
                for picture in packet.decode():
                    if picture.time >= seconds:
                        done.add(video.index)
                        break
                    picture = picture.reformat(
                        width=coded.width, height=coded.height, interpolation=Interpolation.BICUBIC
                    )
                    writer.mux(coded.encode(picture))
            if len(done) == 2:
                break
        writer.mux(coded.encode())


def inspect(source, output, seconds, side):
    with av.open(source) as reader:
        told = [("duration", reader.duration / av.time_base)]
        for stream in reader.streams:
            told.append((stream.type, stream.codec_context.name, stream.duration, stream.time_base, stream.profile))
            if stream.type == "video":
                told.append((stream.width, stream.height, stream.average_rate))
    with open(output, "w") as file:
        file.write("\n".join(" ".join(str(word) for word in line) for line in told))


TASKS = {"trim": trim, "poster": poster, "transcode": transcode, "inspect": inspect}


def main():
    task, seconds, side = TASKS[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3])
    files = sys.argv[4:]
    for source, output in zip(files[::2], files[1::2]):
        task(source, output, seconds, side)


main()
