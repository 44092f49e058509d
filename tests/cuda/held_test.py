#!/usr/bin/env python3
"""Before each profile the hook asks libfathom_cuda.so whether CUPTI is the library's own: torch.profiler is without a GPU
only where it is.

Those that need the library skip where it was not built (no headers of CUPTI) or was built with sanitizers, which Python lacks.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("FATHOM", ROOT / "build/release/fathom")).parent
LIBRARY, FAKE = BUILD / "libfathom_cuda.so", BUILD / "libfake_cupti.so"
HOOK = ROOT / "python/fathom_hook"
sys.path.insert(0, str(HOOK))

from fathom_recorder import cuda_library, options, torch_profile  # noqa: E402

# As the driver does at its first use; before and after, what the hook makes of the answer. `first` runs before it.
PROGRAM = """
import ctypes, os, sys
sys.path.insert(0, sys.argv[1])
from fathom_recorder.cuda_library import holds_cupti
fake = ctypes.CDLL(os.environ["FATHOM_FAKE"], mode=ctypes.RTLD_GLOBAL)
said = [holds_cupti(False), holds_cupti(True)]
library = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
said += [holds_cupti(False), holds_cupti(True)]
exec(sys.argv[2])
library.InitializeInjection()
said += [holds_cupti(False), holds_cupti(True)]
exec(sys.argv[3])
print(*map(int, said))
"""


def loadable() -> bool:
    """Whether a program without sanitizers can load the libraries."""
    both = LIBRARY.exists() and FAKE.exists()
    return both and b"__asan_init" not in LIBRARY.read_bytes() and b"__tsan_init" not in LIBRARY.read_bytes()


class Held(unittest.TestCase):
    def said(self, first: str = "", then: str = "", **more: str) -> str:
        if not loadable():
            self.skipTest(f"needs {LIBRARY.name} and {FAKE.name}, without sanitizers")
        with tempfile.TemporaryDirectory() as session:
            environment = {**os.environ, "FATHOM_SESSION": session, "FATHOM_CUPTI": str(FAKE)}
            environment |= {"CUDA_INJECTION64_PATH": str(LIBRARY), "FATHOM_FAKE": str(FAKE), **more}
            words = [sys.executable, "-c", PROGRAM, str(HOOK), first, then]
            done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_it_is_the_librarys_once_it_has_subscribed(self) -> None:
        # Before, it will be where the process has not used its GPU yet, and will not where it has.
        self.assertEqual(self.said(), "1 0 1 0 1 1")

    def test_it_is_not_where_another_holds_it_or_there_is_none_or_it_is_refused(self) -> None:
        self.assertEqual(self.said(first="fake.fake_hold()"), "1 0 1 0 0 0")
        self.assertEqual(self.said(FATHOM_CUPTI="/nowhere/libcupti.so"), "1 0 1 0 0 0")
        self.assertEqual(self.said(CUPTI_FAKE_FAIL="cuptiSubscribe:15:0"), "1 0 1 0 0 0")
        self.assertEqual(self.said(CUPTI_FAKE_FAIL="cuptiActivityRegisterCallbacks:999:0"), "1 0 1 0 0 0")

    def test_it_is_not_in_a_child_of_the_process_nor_without_a_session(self) -> None:
        child = (
            "pid = os.fork()\n"
            "if not pid: os._exit(int(holds_cupti(True)))\n"
            "said.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
        )
        self.assertEqual(self.said(then=child), "1 0 1 0 1 1 0")
        self.assertEqual(self.said(FATHOM_SESSION=""), "1 0 1 0 1 0")

    def test_a_library_of_another_tool_holds_nothing_for_us(self) -> None:
        # Of the process from the beginning, and without our question.
        with mock.patch.dict(os.environ, {"CUDA_INJECTION64_PATH": "libc.so.6"}):
            self.assertEqual((cuda_library.holds_cupti(False), cuda_library.holds_cupti(True)), (False, False))
        with mock.patch.dict(os.environ, {"CUDA_INJECTION64_PATH": ""}):
            self.assertEqual((cuda_library.holds_cupti(False), cuda_library.holds_cupti(True)), (False, False))
        with mock.patch.dict(os.environ, {"CUDA_INJECTION64_PATH": "/nowhere/lib.so"}):
            self.assertEqual((cuda_library.holds_cupti(False), cuda_library.holds_cupti(True)), (True, False))


class Activities(unittest.TestCase):
    def kinds(self, elsewhere: bool, holds: bool, available: bool = True) -> list[str]:
        torch = mock.MagicMock()
        torch.cuda.is_available.return_value = available
        torch.cuda.is_initialized.return_value = True
        kinds = mock.MagicMock(CPU="cpu", CUDA="cuda")
        profiling = torch_profile.Profiling(mock.MagicMock(torch=torch), mock.MagicMock(), 0)
        given = options.Options({"cuda_beside_torch": elsewhere})
        with (
            mock.patch.object(torch_profile, "from_environment", lambda: given),
            mock.patch.object(torch_profile, "holds_cupti", lambda initialised: holds),
        ):
            return list(profiling._activities(kinds))

    def test_the_gpu_is_torch_profilers_unless_the_library_was_to_have_cupti_and_has_it(self) -> None:
        self.assertEqual(self.kinds(elsewhere=True, holds=True), ["cpu"])
        self.assertEqual(self.kinds(elsewhere=True, holds=False), ["cpu", "cuda"])
        self.assertEqual(self.kinds(elsewhere=False, holds=True), ["cpu", "cuda"])
        self.assertEqual(self.kinds(elsewhere=True, holds=False, available=False), ["cpu"])


if __name__ == "__main__":
    unittest.main()
