"""Programs that are hard to look at: Python within a C program, many threads, own PID namespaces, no symbols, musl, other users' rights, vfork."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import unittest

from program import FATHOM, ROOT, fathom

WORK = ROOT / "tests/programs/stacks/work.py"
NATIVE = """
#include <stdio.h>
#include <time.h>
volatile unsigned long sum;
__attribute__((noinline)) void crunch(void) {
  for (int i = 0; i < 1000; ++i) sum += (unsigned long)i;
}
int main(void) {
  puts("");
  fflush(stdout);
  for (;;) crunch();
}
"""
THREADS = """
import threading, time
def rest():
    time.sleep(3600)
def work():
    while True:
        sum(range(100))
for _ in range(199):
    threading.Thread(target=rest, daemon=True).start()
print(flush=True)
work()
"""
# A child of vfork() shares its parent's memory until it begins its own program: it waits for that here.
VFORK = """
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>
int main(int count, char** words) {
  (void)count;
  puts("");
  fflush(stdout);
  char byte;
  if (vfork() == 0) {
    if (read(0, &byte, 1) == 1) execv(words[1], words + 1);
    _exit(1);
  }
  for (;;) pause();
}
"""


# A program that has Python within, under a name that tells nothing.
EMBEDS = """
#include <Python.h>
int main(int count, char** words) {
  (void)count;
  Py_SetPythonHome(Py_DecodeLocale(words[1], NULL));
  Py_Initialize();
  return PyRun_SimpleString(words[2]);
}
"""
EMBEDDED = """
print(flush=True)
def crunch():
    while True:
        sum(range(1000))
crunch()
"""


class Started:
    """A program that has printed its first line; ended with this, and what it began with it."""

    def __init__(self, *words, **options):
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        start_new_session=True, **options)

    def __enter__(self):
        self.process.stdout.readline()
        return self.process

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.communicate()


def sampled(pid, *options, duration="1s"):
    done = fathom("sample", str(pid), "--duration", duration, "--json", "-q", *options)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def functions(samples):
    return {frame["function"] for stack in samples["stacks"] for frame in stack["frames"]}


def refused(samples):
    native = samples.get("native") or {}
    return native.get("refused", 0) > 0


def has_headers():
    return pathlib.Path(sysconfig.get_path("include"), "Python.h").exists()


def compiled(folder, compiler, source, *options, last=()):
    program = pathlib.Path(folder) / "program"
    text = program.with_suffix(".c")
    text.write_text(source)
    subprocess.run([compiler, "-O1", *options, str(text), "-o", str(program), *last], check=True)
    return program


class Places(unittest.TestCase):
    def compiler(self, name):
        if shutil.which(name) is None:
            self.skipTest(f"no {name} is here")
        return name

    def test_of_200_threads_the_one_that_works_is_found(self):
        with Started(sys.executable, "-c", THREADS) as process:
            samples = sampled(process.pid)
            dump = json.loads(fathom("dump", str(process.pid), "--json").stdout)
        self.assertEqual(len(dump["processes"][0]["threads"]), 200)
        self.assertIn("work", functions(samples))
        # What rests weighs nothing.
        self.assertNotIn("rest", functions(samples))

    def test_a_process_in_a_pid_namespace_of_its_own_is_read(self):
        allowed = subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True, check=False)
        if allowed.returncode != 0:
            self.skipTest(f"no PID namespace may be made: {allowed.stderr.decode()}")
        with Started("unshare", "--pid", "--fork", sys.executable, WORK, "5", "1000") as process:
            samples = sampled(process.pid)
        self.assertLessEqual({"<module>", "deep", "work"}, functions(samples))

    def reads_embedded(self, *library):
        """A look at a C program that has this interpreter within, linked so."""
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(folder, self.compiler("gcc"), EMBEDS, "-w", "-s", "-I" + sysconfig.get_path("include"),
                               last=library)
            with Started(program, sys.base_prefix, EMBEDDED) as process:
                samples = sampled(process.pid)
                dump = json.loads(fathom("dump", str(process.pid), "--json").stdout)["processes"][0]
        self.assertLessEqual({"<module>", "crunch"}, functions(samples))
        self.assertEqual(dump["python"], ".".join(map(str, sys.version_info[:3])))
        self.assertIsNone(dump["reason"])

    def test_a_c_program_with_the_shared_library_of_python_is_read(self):
        folder, name = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDVERSION")
        if not pathlib.Path(folder, f"libpython{name}.so").exists() or not has_headers():
            self.skipTest("this interpreter has no shared library or no headers")
        self.reads_embedded(f"-L{folder}", f"-lpython{name}", f"-Wl,-rpath,{folder}")

    def test_a_c_program_with_python_linked_in_and_without_symbols_is_read(self):
        archive = pathlib.Path(sysconfig.get_config_var("LIBPL"), f"libpython{sysconfig.get_config_var('LDVERSION')}.a")
        if not archive.exists() or not has_headers():
            self.skipTest("this interpreter has no archive to link, or no headers")
        libraries = [word for key in ("MODLIBS", "LIBS", "SYSLIBS") for word in (sysconfig.get_config_var(key) or "").split()]
        # Debian's archive is not made for programs that may lie anywhere.
        self.reads_embedded("-no-pie", str(archive), *libraries, "-lpthread", "-ldl", "-lutil", "-lm")

    def native_functions(self, compiler, *options):
        """What a look at a C program names that was compiled so."""
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(folder, self.compiler(compiler), NATIVE, *options)
            with Started(program) as process:
                samples = sampled(process.pid, "--native")
        if refused(samples):
            self.skipTest("perf may not be used")
        return functions(samples)

    def test_a_program_without_symbols_is_named_by_addresses(self):
        names = self.native_functions("gcc", "-s")
        self.assertTrue([name for name in names if name.startswith("program+0x")], names)
        self.assertNotIn("crunch", names)

    def test_a_program_of_musl_is_unwound(self):
        self.assertLessEqual({"main", "crunch"}, self.native_functions("musl-gcc", "-static"))

    def test_a_child_of_vfork_is_sampled_when_it_has_begun_its_program(self):
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(folder, self.compiler("gcc"), VFORK)
            with Started(program, sys.executable, WORK, "5", "1000") as process:
                peer = subprocess.Popen([FATHOM, "sample", str(process.pid), "--duration", "60s", "--json", "-q"],
                                        stdout=subprocess.PIPE)
                time.sleep(0.5)
                process.stdin.write(b"\n")
                process.stdin.flush()
                process.stdout.readline()  # of the child
                time.sleep(1)
                peer.send_signal(signal.SIGINT)
                samples = json.loads(peer.communicate(timeout=60)[0])
        self.assertEqual(peer.returncode, 0)
        self.assertLessEqual({"<module>", "deep", "work"}, functions(samples))

    def test_a_set_user_id_program_is_refused_with_a_sentence(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to become another user")
        nobody = 65534
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = compiled(folder, self.compiler("gcc"), NATIVE)
            os.chmod(program, 0o4755)
            peer = shutil.copy(FATHOM, folder)
            rights = {"user": nobody, "group": nobody, "extra_groups": []}
            with Started(program, **rights) as process:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                if "\nUid:\t65534\t0\t" not in status:
                    self.skipTest("set-user-ID programs have no effect here")
                said = subprocess.run([peer, "sample", str(process.pid), "--duration", "200ms"], capture_output=True,
                                      text=True, check=False, cwd=folder, **rights)
                self.assertIsNone(process.poll(), "the program goes on")
        self.assertEqual(said.returncode, 3, said.stderr)
        self.assertRegex(said.stderr, "belongs to another user|may not be looked at")
        self.assertEqual(said.stderr.count("\n"), 1, said.stderr)

    def test_a_number_that_another_process_has_by_now_is_not_mixed_up(self):
        last = pathlib.Path("/proc/sys/kernel/ns_last_pid")
        if not last.exists():
            self.skipTest("process numbers may not be chosen here")
        with Started(sys.executable, "-c", "print(flush=True)\ndef former():\n  while True: sum(range(100))\nformer()") as \
                process:
            pid = process.pid
            before = functions(sampled(pid, duration="1s"))
        self.assertIn("former", before)
        for _ in range(50):
            try:
                last.write_text(str(pid - 1))
            except PermissionError:
                self.skipTest("process numbers may not be chosen here")
            with Started(sys.executable, "-c",
                         "print(flush=True)\ndef latter():\n  while True: sum(range(100))\nlatter()") as process:
                if process.pid != pid:
                    continue
                after = functions(sampled(pid, duration="1s"))
            self.assertIn("latter", after)
            self.assertNotIn("former", after)
            return
        self.skipTest("other processes took the number")


if __name__ == "__main__":
    unittest.main()
