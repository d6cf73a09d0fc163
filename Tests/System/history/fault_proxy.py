"""Stands before the bucket, and breaks what it is told to: `fault_proxy.py ADDRESS PORT UPSTREAM-PORT`.

Each line of its input is a fault as JSON, which holds until the next; `{}` is none. Each has `share`, the part of the requests that
it meets, drawn from `seed`:

    {"fault": "down"}                       no connection lasts, and none is taken
    {"fault": "pause"}                      nothing passes until it is over
    {"fault": "error", "status": 503}       the answer, and the server hears nothing
    {"fault": "throttle", "rate": 20000}    bytes a second, of each connection and direction
    {"fault": "reset", "after": 700, "answer": true}    of the answer's bytes, or of the request's
"""
import asyncio
import json
import os
import random
import socket
import struct
import sys

BODIES = {500: "InternalError", 503: "SlowDown"}


class Faults:
    def __init__(self):
        self.now, self.random, self.over, self.clients = {}, random.Random(0), asyncio.Event(), set()
        self.over.set()

    def set(self, fault):
        self.now = fault
        self.random = random.Random(fault.get("seed"))
        (self.over.clear if fault.get("fault") == "pause" else self.over.set)()
        if self.is_down:
            for client in self.clients:
                reset(client)

    @property
    def is_down(self):
        return self.now.get("fault") == "down"

    def draw(self):
        """What meets a request."""
        return self.now if self.now and self.random.random() < self.now.get("share", 1) else {}


def reset(writer):
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def begins_request(piece):
    return piece.split(b"\r\n", 1)[0].endswith(b" HTTP/1.1")


class Connection:
    def __init__(self, faults, client, server):
        self.faults, self.client, self.server, self.met, self.count = faults, client, server, {}, [0, 0]

    async def pump(self, reader, writer, is_answer):
        while piece := await reader.read(65536):
            await self.faults.over.wait()
            if not is_answer and begins_request(piece):
                # Its bytes are counted from here, and so are those of its answer.
                self.met, self.count = self.faults.draw(), [0, 0]
                if self.met.get("fault") == "error":
                    return await self.refuse(reader, self.met["status"])
            kind = self.met.get("fault")
            if kind == "reset" and self.met["answer"] == is_answer:
                left = self.met["after"] - self.count[is_answer]
                if len(piece) >= left:
                    writer.write(piece[: max(left, 0)])
                    return reset(self.client)
            self.count[is_answer] += len(piece)
            writer.write(piece)
            await writer.drain()
            if kind == "throttle" and self.faults.now == self.met:
                await asyncio.sleep(len(piece) / self.met["rate"])

    async def refuse(self, reader, status):
        body = f"<Error><Code>{BODIES[status]}</Code><Message>made by the test</Message></Error>"
        self.client.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
            .encode())
        await self.client.drain()
        self.client.write_eof()
        # What is still coming is read, or the answer would be lost by a reset.
        try:
            async with asyncio.timeout(2):
                while await reader.read(65536):
                    pass
        except TimeoutError:
            pass


async def serve(address, port, upstream):
    faults = Faults()

    async def accept(reader, writer):
        server = None
        if faults.is_down:
            return reset(writer)
        faults.clients.add(writer)
        try:
            answers, server = await asyncio.open_connection("127.0.0.1", upstream)
            connection = Connection(faults, writer, server)
            pumps = [
                asyncio.create_task(connection.pump(reader, server, False)),
                asyncio.create_task(connection.pump(answers, writer, True))]
            _, left = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in left:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
        except OSError:
            pass
        finally:
            faults.clients.discard(writer)
            for one in (writer, server):
                if one:
                    one.close()

    await asyncio.start_server(accept, address, port, backlog=256)
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        faults.set(json.loads(line))
    # Whoever started it has ended; what is open is of no use.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
