"""Without a network, not even the loopback one, everything works: nothing is downloaded and nothing is asked for."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import ENVIRONMENT, FATHOM, ROOT

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


if __name__ == "__main__":
    unittest.main()
