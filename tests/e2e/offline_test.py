"""Without a network, not even the loopback one, everything works: nothing is downloaded and nothing is asked for."""
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from program import ENVIRONMENT, FATHOM, ROOT

sys.path.insert(0, str(ROOT / "tests/support"))
import no_network

TRACE = ROOT / "examples/resnet50_v100.pt.trace.json.gz"
PROGRAM = """
import time
for _ in range(3):
    time.sleep(0.01)
with open('/proc/net/dev') as table:
    print('ran without', not [line for line in table if ':' in line and 'lo:' not in line])
"""


def without_network():
    """A command in front, where the kernel allows it."""
    unshare = shutil.which("unshare")
    for words in (["--net"], ["--map-root-user", "--net"]):
        if unshare and subprocess.run([unshare, *words, "true"], capture_output=True, check=False).returncode == 0:
            return [unshare, *words]
    return []


COMMAND = without_network()


@unittest.skipUnless(COMMAND, "this kernel lets nobody go without a network (unshare)")
class Offline(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-offline-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def fathom(self, *words, offline=True):
        done = subprocess.run([*(COMMAND if offline else []), FATHOM, *map(str, words)], capture_output=True, text=True,
                              check=False, cwd=self.folder, env=ENVIRONMENT, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_a_program_is_recorded_and_diagnosed(self):
        (self.folder / "program.py").write_text(PROGRAM)
        done = self.fathom("run", "-o", "session", "--", sys.executable, "program.py")
        self.assertIn("ran without True", done.stdout)
        self.assertTrue(list((self.folder / "session").glob("process-*.fathom")))
        self.assertIn("Verdict", self.fathom("diagnose", "session").stdout)

    def test_a_trace_is_diagnosed_as_ever(self):
        self.assertEqual(self.fathom("diagnose", TRACE).stdout, self.fathom("diagnose", TRACE, offline=False).stdout)

    def test_the_page_in_a_file_is_as_ever_and_asks_nobody(self):
        self.fathom("view", TRACE, "--html", "without.html")
        self.fathom("view", TRACE, "--html", "with.html", offline=False)
        page = (self.folder / "without.html").read_bytes()
        # The answers it carries are compressed, and not the same bytes each time.
        here, there = (text.partition(b'id="fathom-answers">') for text in (page, (self.folder / "with.html").read_bytes()))
        self.assertEqual(len(here[0]), len(there[0]))
        self.assertTrue(here[0] == there[0], "the page differs")
        self.assertGreater(len(here[2]), len(there[2]) * 9 // 10)
        # The browser itself may fetch nothing, and the licence of what is in the page stands in it.
        for needed in (b"default-src 'none'", b"/*! preact ", b"Permission is hereby granted"):
            self.assertTrue(needed in page, needed)


FILTERED = no_network.front("none")


@unittest.skipUnless(FILTERED, "system calls cannot be filtered here (seccomp)")
class Attempts(unittest.TestCase):
    """That works without a network; and nothing even tries to reach one, which nobody would notice."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-attempts-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def guarded(self, *words, kind="none"):
        return subprocess.run([*no_network.front(kind), *map(str, words)], capture_output=True, text=True, check=False,
                              cwd=self.folder, env=ENVIRONMENT, timeout=300)

    def test_an_attempt_is_noticed(self):
        asks = "import socket; s = socket.socket(socket.{}, socket.{}); print('made', flush=True); s.{}; print('asked')"
        connects = "connect_ex(('127.0.0.1', 9))"
        for kind, words, printed in (
            ("none", ("AF_UNIX", "SOCK_STREAM", "close()"), "made\nasked\n"),
            ("none", ("AF_INET", "SOCK_STREAM", "close()"), None),
            ("none", ("AF_INET6", "SOCK_DGRAM", "close()"), None),
            ("none", ("AF_NETLINK", "SOCK_RAW", "close()"), None),
            ("server", ("AF_INET", "SOCK_STREAM", "listen()"), "made\nasked\n"),
            ("server", ("AF_UNIX", "SOCK_STREAM", "connect_ex('nobody')"), "made\nasked\n"),
            ("server", ("AF_INET", "SOCK_DGRAM", "close()"), None),
            ("server", ("AF_INET", "SOCK_STREAM", connects), "made\n"),
            ("server", ("AF_INET6", "SOCK_STREAM", "connect_ex(('::1', 9))"), "made\n"),
            ("server", ("AF_INET", "SOCK_STREAM", "sendto(b'', 0x20000000, ('127.0.0.1', 9))"), "made\n"),
        ):
            with self.subTest(kind=kind, words=words):
                done = self.guarded(sys.executable, "-c", asks.format(*words), kind=kind)
                ended = 0 if printed and "asked" in printed else -signal.SIGSYS
                self.assertEqual((done.returncode, done.stdout), (ended, printed or ""), done.stderr)
        # A process that it starts, too, and a program that is recorded.
        child = "import subprocess, sys; print(subprocess.run([sys.executable, '-c', 'import socket; socket.socket()']).returncode)"
        self.assertEqual(self.guarded(sys.executable, "-c", child).stdout, f"{-signal.SIGSYS}\n")
        done = self.guarded(FATHOM, "run", "--no-diagnose", "-o", "asks", "--", sys.executable, "-c", "import socket; socket.socket()")
        self.assertEqual(done.returncode, 128 + signal.SIGSYS, done.stderr)

    def test_nothing_is_attempted(self):
        (self.folder / "program.py").write_text(PROGRAM)
        for words in (
            ("run", "--with", "functions", "-o", "session", "--", sys.executable, "program.py"),
            ("diagnose", "session"), ("diagnose", TRACE), ("compare", TRACE, TRACE), ("doctor",), ("--version",),
            ("view", TRACE, "--html", "page.html"),
        ):
            with self.subTest(words[0]):
                done = self.guarded(FATHOM, *words)
                self.assertIn(done.returncode, (0, 1) if words[0] == "doctor" else (0,), done.stdout + done.stderr)
        self.assertTrue(list((self.folder / "session").glob("process-*.fathom")))


if __name__ == "__main__":
    unittest.main()
