"""A running `fathom view`, asked as a browser asks it, and as nobody should."""
import gzip
import http.client
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
TRACES = ROOT / "tests/data/traces"
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
WAIT = 60


def fathom(*arguments):
    done = subprocess.run([FATHOM, *map(str, arguments)], capture_output=True, check=False, timeout=120, cwd=ROOT,
                          env=ENVIRONMENT)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return done.stdout


class Viewer:
    """Standard input is a pipe, whose end ends the server; `front` is a command that starts it."""

    def __init__(self, *arguments, front=(), **settings):
        self.process = subprocess.Popen([*front, FATHOM, "view", "--no-open", *map(str, arguments)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
                                        env={**ENVIRONMENT, **settings})
        self.first = self.process.stdout.readline().decode().strip()
        self.second = self.process.stdout.readline().decode().strip()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.first + self.second)
        if found is None:
            raise AssertionError(f"no address: {self.first!r} {self.process.stderr.read()!r}")
        self.port = int(found.group(1))
        self.token = found.group(2)

    def end(self):
        """Its exit code."""
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(WAIT)
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()
        return code

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)

    def get(self, path, token=None, method="GET", **fields):
        """Status, fields and bytes; a field's name is written with _ for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        connection.request(method, f"/{self.token if token is None else token}/{path}", headers=headers)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        if response.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        return response.status, response.headers, body

    def ask(self, path):
        """The JSON, once the recording is read."""
        while True:
            status, _, body = self.get(path)
            answer = json.loads(body)
            if status == 503 and answer["error"]["code"] == "reading":
                continue  # asked again at once: it takes milliseconds
            if status != 200:
                raise AssertionError(f"{path}: {status} {body[:300]!r}")
            return answer

    def text(self, path):
        self.ask("api/tracks")  # wait until it is read
        status, _, body = self.get(path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {body[:300]!r}")
        return body

    def session(self):
        """What api/session says once everything is there."""
        while True:
            session = self.ask("api/session")
            if session["state"] == "failed" or session.get("analysed"):
                return session

    def raw(self, content):
        """What is answered to these bytes, until the server closes."""
        with self.connect() as connection:
            try:
                connection.sendall(content)
            except OSError:
                pass  # refused before its end
            return received(connection)


def received(connection):
    answer = b""
    try:
        while chunk := connection.recv(65536):
            answer += chunk
    except ConnectionResetError:
        pass
    return answer


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


class ViewerCase(unittest.TestCase):
    """One server for all tests of a class."""
    arguments = ("tests/data/traces/hta_alexnet.json.gz",)

    @classmethod
    def setUpClass(cls):
        cls.viewer = Viewer(*cls.arguments)
        cls.addClassCleanup(cls.viewer.end)


def parse_tile(content):
    """Blocks by track: {"covered": [...], "boxes": [{...}]}."""
    if content[:4] != b"FTT1":
        raise AssertionError(content[:16])
    (count,) = struct.unpack_from("<I", content, 4)
    at = 8
    blocks = {}
    for _ in range(count):
        track, lanes, boxes, zero = struct.unpack_from("<4I", content, at)
        assert zero == 0
        at += 16
        covered = struct.unpack_from(f"<{lanes}Q", content, at)
        at += 8 * lanes
        columns = []
        for letter in "IIIIHBB":
            size = struct.calcsize(letter) * boxes
            columns.append(struct.unpack_from(f"<{boxes}{letter}", content, at))
            at += (size + 7) // 8 * 8
        names = ("x0", "x1", "slice", "name", "lane", "kind", "coverage")
        blocks[track] = {"covered": covered, "boxes": [dict(zip(names, row)) for row in zip(*columns)]}
    assert at == len(content)
    return blocks
