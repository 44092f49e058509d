"""The program under test: run as scripts run it, and on a terminal."""
import contextlib
import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import termios
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
SANITIZED = b"__asan_init" in pathlib.Path(FATHOM).read_bytes()
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}


def fathom(*arguments, stdin=b"", **settings):
    """The finished process; `settings` are environment variables."""
    return subprocess.run([FATHOM, *arguments], input=stdin, capture_output=True, timeout=120, check=False,
                          env={**ENVIRONMENT, **settings})


def some(of):
    """All of a list; with sanitizers in the program, which make it ten times as slow, each fifth, but for `make nightly`."""
    return of[::5] if SANITIZED and "FATHOM_TEST_ALL_SIZES" not in os.environ else of


def on_terminal(columns: int, *arguments, lines: int = 40, **settings) -> str:
    """Standard output of fathom on a terminal that is `columns` wide and `lines` high."""
    return _shown(columns, lines, "stdout", arguments, settings)


def errors_on_terminal(columns: int, *arguments, lines: int = 40, **settings) -> str:
    """Likewise what it writes to standard error."""
    return _shown(columns, lines, "stderr", arguments, settings)


def _shown(columns, lines, stream, arguments, settings):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: slave}
    process = subprocess.Popen([FATHOM, *arguments], stdin=subprocess.DEVNULL, env={**ENVIRONMENT, "TERM": "xterm", **settings}, **streams)
    os.close(slave)
    printed = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # The other end is closed: all was read.
            break
        if not chunk:
            break
        printed += chunk
    process.wait()
    os.close(master)
    return printed.decode().replace("\r\n", "\n")


@contextlib.contextmanager
def started(*command, stdin=subprocess.PIPE):
    """The process, once it has printed an empty line; `numbers` has what it named before that."""
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True)
    try:
        process.numbers = {}
        for line in process.stdout:
            if not line.strip():
                break
            name, number = line.split()
            process.numbers[name] = int(number)
        yield process
    finally:
        process.kill()
        process.communicate()


class MistakesCase(unittest.TestCase):
    """For tests of messages about mistakes; without tests of its own."""

    def fails(self, code, *arguments, says=""):
        done = fathom(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(done.stderr.count(b"\n"), 1, "an error is one line")
        self.assertIn(says, done.stderr.decode())
