"""Servers on 127.0.0.1 that Satchel fetches from and calls, each on a thread of its own."""

import asyncio
import datetime
import json
import math
import re
import threading
import time

from . import Failure
from .service import unlike


class Loopback:
    """Hands every connection to `answer(reader, writer)`, at a port of the kernel's choice, until the program ends."""

    def __init__(self):
        ready = threading.Event()

        async def one(reader, writer):
            try:
                await self.answer(reader, writer)
            except (OSError, EOFError):
                pass  # whoever asked is gone
            finally:
                writer.close()

        async def serve():
            server = await asyncio.start_server(one, "127.0.0.1", 0, backlog=512)
            self.address = "http://{}:{}".format(*server.sockets[0].getsockname())
            ready.set()
            await server.serve_forever()

        threading.Thread(target=asyncio.run, args=(serve(),), daemon=True).start()
        ready.wait()

    @staticmethod
    async def request(reader):
        """The target and the body of the next request; EOFError at the connection's end."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"^content-length:\s*(\d+)", head, re.IGNORECASE | re.MULTILINE)
        return head.split(b" ", 2)[1].decode(), await reader.readexactly(int(length[1]) if length else 0)


def _head(length, media_type="application/octet-stream"):
    return f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n".encode()


class FileOrigin(Loopback):
    """Answers with one of a few files, as fast as the kernel can send them."""

    def __init__(self, files):
        self.files = {f"/{file.name}": file for file in files}
        super().__init__()

    async def answer(self, reader, writer):
        target, _ = await self.request(reader)
        with open(self.files[target], "rb") as file:
            writer.write(_head(self.files[target].stat().st_size, "audio/wav"))
            await writer.drain()
            await asyncio.get_running_loop().sendfile(writer.transport, file)


class SlowOrigin(Loopback):
    """Gives out bodies in the ways in which slow and broken origins do."""

    # Pieces, and a pause between two of them in terms of the time. `prompt`: as fast as it goes; `dripping`: done after about half of
    # the time; `late`: it would be done after twice the time; `stalling`: stops in the middle and says nothing more; `silent`: takes
    # the request and doesn't answer.
    MANNERS = {"prompt": (1, 0), "dripping": (25, 0.02), "late": (50, 0.04), "stalling": (2, 0), "silent": None}

    def __init__(self, bodies):
        self.bodies = bodies
        super().__init__()

    def url(self, number, manner, seconds, index):
        """Of a body, unlike that of any other index; `seconds` is what the manner's times are parts of."""
        return f"{self.address}/{number}/{manner}/{int(seconds * 1000)}/{index}"

    async def answer(self, reader, writer):
        _, number, manner, milliseconds, index = (await self.request(reader))[0].split("/")
        seconds, body = int(milliseconds) / 1000, unlike(self.bodies[int(number)], index)
        if manner != "silent":
            writer.write(_head(len(body)))
            pieces, pause = self.MANNERS[manner]
            size = len(body) // pieces + 1
            for start in range(0, size if manner == "stalling" else len(body), size):
                writer.write(body[start : start + size])
                await writer.drain()
                await asyncio.sleep(pause * seconds)
        if manner in ("silent", "stalling"):
            # Nobody waits for it any longer than this.
            await asyncio.wait([asyncio.create_task(reader.read())], timeout=seconds + 2)


class Receiver(Loopback):
    """Takes calls, which a subclass keeps in `calls`."""

    def __init__(self):
        self.calls = []
        super().__init__()

    def wait_for(self, count, seconds):
        end = time.monotonic() + seconds
        while len(self.calls) < count:
            if time.monotonic() > end:
                raise Failure(f"{len(self.calls)} of {count} calls came within {seconds} s")
            time.sleep(0.01)


class EventReceiver(Receiver):
    """Takes the events of notifications, and answers each with success in `answer_seconds`. Of each call it keeps when it came."""

    def __init__(self, answer_seconds):
        self.answer_seconds = answer_seconds
        super().__init__()

    async def answer(self, reader, writer):
        while True:
            await self.request(reader)
            self.calls.append(time.monotonic())
            await asyncio.sleep(self.answer_seconds)
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")


class CallbackReceiver(Receiver):
    """Takes callbacks: first it asks for all of them again at one time (`due`), and counts them; after `take` it answers each with
    success in `answer_seconds`. Where `is_silent` it says nothing at all. Of each call it keeps when it came, and how many seconds
    after its job's end."""

    def __init__(self, due=None, answer_seconds=0.0, is_silent=False):
        self.due, self.answer_seconds, self.is_silent = due, answer_seconds, is_silent
        super().__init__()

    async def answer(self, reader, writer):
        while True:
            _, body = await self.request(reader)
            end = datetime.datetime.fromisoformat(json.loads(body)["finished_at"]).timestamp()
            call = time.monotonic(), time.time() - end
            if self.is_silent:
                await asyncio.sleep(60)
                return
            if self.due:
                later = max(1, math.ceil(self.due - time.monotonic()))
                answer = f"503 Later\r\nRetry-After: {later}\r\nContent-Length: 0"
            else:
                await asyncio.sleep(self.answer_seconds)
                answer = "204 No Content"
            self.calls.append(call)
            writer.write(f"HTTP/1.1 {answer}\r\n\r\n".encode())

    def take(self):
        self.due, self.calls = None, []

    @property
    def parameter(self):
        """For the query of a submission."""
        return f"&callback={self.address}/hook"
