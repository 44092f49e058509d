"""fathom run, doctor and attach as people meet them: exit codes, signals, terminals, children, manifests, secrets."""
import contextlib
import json
import os
import pathlib
import pty
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
# The interpreter itself: a shim in PATH would be processes of its own.
PYTHON = os.path.realpath(sys.executable)
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "240"}
LIMIT = 60


class Sandbox(unittest.TestCase):
    """A folder to run in, which goes away."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-run-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def environment(self, **settings):
        return {**ENVIRONMENT, **settings}

    def fathom(self, *arguments, **settings):
        return subprocess.run([FATHOM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=LIMIT,
                              check=False, env=self.environment(**settings), stdin=subprocess.DEVNULL)

    def start(self, *arguments, **keywords):
        process = subprocess.Popen([FATHOM, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.environment(), **keywords)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, LIMIT)
        self.addCleanup(process.kill)
        return process

    def manifest(self, folder="session"):
        return json.loads((self.folder / folder / "manifest.json").read_text())

    def await_file(self, name: str) -> str:
        """The file's text, once it holds a line."""
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            try:
                text = (self.folder / name).read_text()
                if text.endswith("\n"):
                    return text
            except OSError:
                pass
            time.sleep(0.01)
        raise AssertionError(f"{name} does not appear")


class ExitCodes(Sandbox):
    def run_shell(self, script, *options):
        return self.fathom("run", "-o", "session", *options, "--", "sh", "-c", script)

    def test_the_program_s_exit_code_is_ours(self):
        done = self.run_shell("exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertIn("exit code 3", done.stderr)
        self.assertEqual(self.manifest()["exit"], {"code": 3, "signal": None})

    def test_success_is_0(self):
        self.assertEqual(self.run_shell("true").returncode, 0)

    def test_a_signal_is_128_and_its_number_and_is_named(self):
        done = self.run_shell("kill -SEGV $$")
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertIn("SIGSEGV", done.stderr)
        self.assertEqual(self.manifest()["exit"], {"code": None, "signal": "SIGSEGV"})

    def test_a_command_that_there_is_not_is_127_and_leaves_nothing(self):
        for command in ("no-such-command", "./no-such-file"):
            done = self.fathom("run", "--", command)
            self.assertEqual(done.returncode, 127, done.stderr)
            self.assertIn(command, done.stderr)
        self.assertEqual(list(self.folder.glob("fathom-runs/*")), [])

    def test_what_cannot_be_executed_is_126(self):
        script = self.folder / "script.sh"
        script.write_text("echo\n")
        for command in (str(script), str(self.folder)):
            done = self.fathom("run", "--", command)
            self.assertEqual(done.returncode, 126, done.stderr)

    def test_a_missing_interpreter_is_named(self):
        script = self.folder / "script.sh"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        done = self.fathom("run", "--", str(script))
        self.assertEqual(done.returncode, 127)
        self.assertIn("interpreter", done.stderr)

    def test_a_script_without_a_first_line_runs_as_in_a_shell(self):
        script = self.folder / "script.sh"
        script.write_text("echo from the script\n")
        script.chmod(0o755)
        self.assertEqual(self.fathom("run", "--", str(script)).stdout, "from the script\n")

    def test_usage_errors_are_2_and_run_nothing(self):
        for arguments in ((), ("--with", "colours", "--", "touch", "x"), ("--delay", "soon", "--", "touch", "x"),
                          ("--steps", "active=0", "--", "touch", "x"), ("--no-such-option", "--", "touch", "x"),
                          ("--on-signal", "SIGNOPE", "--", "touch", "x"), ("--max-size", "big", "--", "touch", "x")):
            done = self.fathom("run", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertTrue(done.stderr.startswith("fathom: run: "), done.stderr)
        self.assertFalse((self.folder / "x").exists())


class Command(Sandbox):
    def test_the_words_arrive_as_they_are(self):
        words = ["-h", "--help", "--", "", "a b", "[x,y]", "{}", "--with", "-o", "\u00e4"]
        show = "import json, sys; print(json.dumps(sys.argv[1:]))"
        done = self.fathom("run", "-q", "-o", "session", "--", PYTHON, "-c", show, *words)
        self.assertEqual(json.loads(done.stdout), words)

    def test_the_mark_before_the_command_may_be_left_out(self):
        done = self.fathom("run", "--telemetry", "0", "-o", "session", "sh", "-c", "echo $0", "--quiet")
        self.assertEqual(done.stdout, "--quiet\n")

    def test_standard_output_is_the_program_s_alone(self):
        done = self.fathom("run", "-o", "session", "--", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual(done.stdout, "out\n")
        self.assertIn("err\n", done.stderr)
        self.assertIn("Processes", done.stderr)

    def test_quiet_says_nothing_of_its_own_while_it_runs(self):
        done = self.fathom("run", "--quiet", "--no-diagnose", "-o", "session", "--", "sh", "-c", "exit 4")
        self.assertEqual((done.returncode, done.stderr), (4, ""))

    def test_standard_input_reaches_the_program(self):
        done = subprocess.run([FATHOM, "run", "-o", "session", "--", "cat"], cwd=self.folder, input="through\n",
                              capture_output=True, text=True, timeout=LIMIT, check=True, env=self.environment())
        self.assertEqual(done.stdout, "through\n")

    def test_a_reader_that_goes_away_ends_the_program_as_in_a_shell(self):
        line = f"'{FATHOM}' run -o session -- sh -c 'while :; do echo y; done' 2>/dev/null | head -1"
        done = subprocess.run(["sh", "-c", line], cwd=self.folder, capture_output=True, text=True, timeout=LIMIT,
                              check=True, env=self.environment())
        self.assertEqual(done.stdout, "y\n")
        until = time.monotonic() + LIMIT
        while "exit" not in self.manifest() and time.monotonic() < until:
            time.sleep(0.01)
        self.assertEqual(self.manifest()["exit"]["signal"], "SIGPIPE")

    def test_the_program_has_the_signal_mask_and_group_that_we_were_given(self):
        show = ("import os, signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []) == set(), "
                "os.getpgrp() == os.getpgid(os.getppid()))")
        self.assertEqual(self.fathom("run", "-o", "session", "--", PYTHON, "-c", show).stdout, "True True\n")

    def test_no_descriptor_of_ours_reaches_the_program(self):
        done = self.fathom("run", "-o", "session", "--", "sh", "-c", "ls /proc/$$/fd")
        self.assertEqual(done.stdout.split(), ["0", "1", "2"])

    def test_the_program_is_told_about_the_session(self):
        show = "import os, json; print(json.dumps([os.environ[k] for k in ('FATHOM_SESSION', 'FATHOM_OPTIONS', 'PYTHONPATH')]))"
        done = self.fathom("run", "-o", "session", "--with", "shapes", "--last", "30s", "--", PYTHON, "-S", "-c", show,
                           PYTHONPATH="/elsewhere")
        session, options, path = json.loads(done.stdout)
        self.assertEqual(session, os.path.realpath(self.folder / "session"))
        self.assertEqual(path, f"{session}/hook:/elsewhere")
        self.assertEqual((json.loads(options)["with"], json.loads(options)["last_s"]), (["shapes"], 30))
        self.assertTrue((self.folder / "session/hook/sitecustomize.py").exists())


class Signals(Sandbox):
    WAITING = ("import os, signal, sys, time\n"
               "def end(number, frame):\n"
               "    open('got', 'w').write(f'{number}\\n'); sys.exit(7)\n"
               "for name in ('SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGQUIT', 'SIGINT'):\n"
               "    signal.signal(getattr(signal, name), end)\n"
               # An exception that a handler raises while a file is closed is lost.
               "open('begun', 'w').write(f'{os.getpid()}\\n')\n"
               "os.rename('begun', 'ready')\n"
               # A signal that comes just before signal.pause() would not end it.
               "while True: time.sleep(0.02)\n")

    def waiting(self, *options, **keywords):
        process = self.start("run", "--telemetry", "0", "-o", "session", *options, "--", PYTHON, "-c", self.WAITING,
                             **keywords)
        return process, int(self.await_file("ready"))

    def test_signals_for_the_launcher_reach_the_program(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT, signal.SIGINT):
            with self.subTest(signal=number):
                for name in ("ready", "got"):
                    (self.folder / name).unlink(missing_ok=True)
                shutil.rmtree(self.folder / "session", ignore_errors=True)
                process, _ = self.waiting()
                process.send_signal(number)
                self.assertEqual(process.wait(LIMIT), 7)
                self.assertEqual(int(self.await_file("got")), number)
                self.assertEqual(self.manifest()["exit"]["code"], 7)

    def test_a_program_that_dies_of_a_passed_signal_says_so(self):
        process = self.start("run", "-o", "session", "--", "sh", "-c", "echo x > ready; exec sleep 100")
        self.await_file("ready")
        process.terminate()
        _, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertIn("SIGTERM", err)

    def test_a_killed_launcher_leaves_a_manifest_without_an_end(self):
        process, pid = self.waiting()
        process.kill()
        process.wait(LIMIT)
        os.kill(pid, signal.SIGKILL)
        manifest = self.manifest()
        self.assertEqual(manifest["schema"], "fathom-run/1")
        self.assertNotIn("exit", manifest)
        self.assertNotIn("ended_unix_ns", manifest)


class Terminal(Sandbox):
    """Ctrl-C as a terminal sends it: to the whole foreground group."""

    def on_terminal(self, program: str):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(FATHOM, [FATHOM, "run", "--telemetry", "0", "-o", "session", "--", PYTHON, "-c", program],
                      self.environment(TERM="xterm"))
        self.addCleanup(os.close, terminal)
        return pid, terminal

    def read_until_end(self, pid, terminal):
        printed = b""
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                chunk = os.read(terminal, 65536)
            except OSError:
                break
            if not chunk:
                break
            printed += chunk
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status), printed.decode()

    def test_ctrl_c_ends_the_program_once_and_the_run_is_still_shown(self):
        program = ("import os, signal, sys, time\n"
                   "count = []\n"
                   "def end(number, frame):\n"
                   "    count.append(1); signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
                   "signal.signal(signal.SIGINT, end)\n"
                   "signal.signal(signal.SIGALRM, lambda *_: sys.exit(40 + len(count)))\n"
                   "open('ready', 'w').write('x\\n')\n"
                   "while True: time.sleep(0.01)\n")  # pause() could miss a signal that comes right before it
        pid, terminal = self.on_terminal(program)
        self.await_file("ready")
        os.write(terminal, b"\x03")
        code, printed = self.read_until_end(pid, terminal)
        self.assertEqual(code, 41, printed)
        self.assertIn("interrupted", printed)
        self.assertIn("Processes", printed)
        self.assertEqual(self.manifest()["exit"]["code"], 41)

    def test_a_second_ctrl_c_gives_up_on_a_program_that_does_not_end(self):
        program = ("import os, signal, time\n"
                   "signal.signal(signal.SIGINT, lambda *_: open('got', 'a').write('x\\n'))\n"
                   "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
                   "open('ready', 'w').write(f'{os.getpid()}\\n')\n"
                   "while True: time.sleep(0.01)\n")  # pause() could miss a signal that comes right before it
        pid, terminal = self.on_terminal(program)
        program_pid = int(self.await_file("ready"))
        try:
            os.write(terminal, b"\x03")
            self.await_file("got")
            code, printed = self.press_until_end(pid, terminal)
            self.assertEqual(code, 130, printed)
            self.assertIn("gave up", printed)
            os.kill(program_pid, 0)
            self.assertNotIn("exit", self.manifest())
        finally:
            os.kill(program_pid, signal.SIGKILL)

    def press_until_end(self, pid, terminal):
        """Ctrl-C, and again every half second, as two that come right after each other are one signal, until the
        launcher ends: the program keeps the terminal open."""
        printed = b""
        until = time.monotonic() + LIMIT
        press = 0
        status = None
        while time.monotonic() < until:
            if status is None and time.monotonic() >= press:
                os.write(terminal, b"\x03")
                press = time.monotonic() + 0.5
            ready = select.select([terminal], [], [], 0.05)[0]
            if ready:
                printed += os.read(terminal, 65536)
            elif status is not None:
                break
            if status is None:
                ended, value = os.waitpid(pid, os.WNOHANG)
                status = value if ended else None
        return os.waitstatus_to_exitcode(status), printed.decode()


class Processes(Sandbox):
    def processes(self):
        return self.manifest()["processes"]

    def test_times_and_memory_are_those_of_wait4(self):
        work = ("import time\n"
                "block = bytearray(150 << 20)\n"
                "until = time.process_time() + 0.4\n"
                "while time.process_time() < until: pass\n"
                "import resource, json\n"
                "use = resource.getrusage(resource.RUSAGE_SELF)\n"
                "print(json.dumps([use.ru_utime, use.ru_stime, use.ru_maxrss]))\n")
        done = self.fathom("run", "-o", "session", "--", PYTHON, "-S", "-c", work)
        user, system, peak = json.loads(done.stdout)
        main = self.processes()[0]
        self.assertTrue(main["exact"])
        self.assertAlmostEqual(main["user_ns"] / 1e9, user, delta=0.1)
        self.assertAlmostEqual(main["system_ns"] / 1e9, system, delta=0.1)
        self.assertAlmostEqual(main["peak_bytes"] / 1024, peak, delta=4096)
        self.assertGreaterEqual(main["wall_ns"], main["user_ns"] * 0.9)

    def test_the_peak_of_a_small_program_is_not_ours(self):
        self.fathom("run", "-o", "session", "--", "sleep", "0.2")
        self.assertLess(self.processes()[0]["peak_bytes"], 6 << 20)

    def test_children_and_their_children_are_in_the_tree(self):
        # Where a look at all processes is dear, as with many of them under a sanitizer, one is had each second.
        script = ("import subprocess, sys\n"
                  "subprocess.run(['sh', '-c', 'sleep 1.5; true'])\n")
        self.fathom("run", "-o", "session", "--", PYTHON, "-c", script)
        rows = {row["pid"]: row for row in self.processes()}
        sleep = next(row for row in rows.values() if row["command"][0] == "sleep")
        shell = rows[sleep["parent"]]
        main = rows[shell["parent"]]
        self.assertEqual((main["role"], shell["role"], sleep["role"]), ("main", "child", "child"))
        self.assertGreater(sleep["wall_ns"], 1.4e9)

    def test_a_child_that_is_left_as_a_zombie_is_one_process(self):
        script = ("import os, signal, time\n"
                  "pid = os.fork()\n"
                  "if pid == 0:\n"
                  "    time.sleep(0.1); os._exit(4)\n"
                  "time.sleep(1.8); os.waitpid(pid, 0); print(pid)\n")
        done = self.fathom("run", "-o", "session", "--", PYTHON, "-S", "-c", script)
        rows = [row for row in self.processes() if row["pid"] == int(done.stdout)]
        self.assertEqual([row["exit"]["code"] for row in rows], [4])
        self.assertLess(rows[0]["wall_ns"], 1.5e9)

    def test_ranks_are_told_by_their_environment(self):
        script = ("import os, subprocess\n"
                  "children = [subprocess.Popen(['sleep', '1.5'], env={**os.environ, 'RANK': str(rank), "
                  "'WORLD_SIZE': '2'}) for rank in (0, 1)]\n"
                  "for child in children: child.wait()\n")
        self.fathom("run", "-o", "session", "--", PYTHON, "-c", script)
        ranks = sorted(row["rank"] for row in self.processes() if row["role"] == "rank")
        self.assertEqual(ranks, [0, 1])

    @unittest.skipUnless(shutil.which("unshare"), "util-linux is missing")
    def test_without_proc_the_program_is_waited_for(self):
        hidden = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if subprocess.run([*hidden, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this container may not mount")
        if subprocess.run([*hidden, FATHOM, "--version"], capture_output=True, check=False).returncode != 0:
            self.skipTest("the leak sanitizer of this build needs /proc")
        done = subprocess.run([*hidden, FATHOM, "run", "-o", "s", "--no-diagnose", "--telemetry", "0", "--", "sh", "-c",
                               "sleep 0.3; echo done; exit 5"],
                              cwd=self.folder, capture_output=True, text=True, timeout=LIMIT, check=False,
                              env=self.environment())
        self.assertEqual((done.returncode, done.stdout), (5, "done\n"), done.stderr)
        manifest = json.loads((self.folder / "s/manifest.json").read_text())
        self.assertEqual(manifest["exit"]["code"], 5)
        self.assertGreater(manifest["processes"][0]["wall_ns"], 250e6)

    def test_an_orphan_s_end_is_recorded_exactly(self):
        done = self.fathom("run", "-o", "session", "--", "sh", "-c", "(sleep 0.2; exit 5) & sleep 0.05")
        self.assertEqual(done.returncode, 0)
        orphan = next(row for row in self.processes() if row.get("exit", {}).get("code") == 5)
        self.assertTrue(orphan["exact"])

    def test_a_daemon_that_stays_is_not_waited_for_and_is_named(self):
        script = "setsid sleep 60 > /dev/null 2>&1 < /dev/null & echo $!"
        started = time.monotonic()
        done = self.fathom("run", "-o", "session", "--", "sh", "-c", script)
        daemon = int(done.stdout)
        try:
            self.assertLess(time.monotonic() - started, 30)
            self.assertIn(f"background process of the program still ran when it had ended ({daemon})", done.stderr)
            self.assertTrue(next(row for row in self.processes() if row["pid"] == daemon)["running"])
        finally:
            os.kill(daemon, signal.SIGKILL)

    def test_a_program_that_closes_all_descriptors_and_leaves_its_folder_is_recorded(self):
        script = "import os; os.chdir('/'); os.closerange(0, 256); os._exit(9)"
        self.assertEqual(self.fathom("run", "-o", "session", "--", PYTHON, "-c", script).returncode, 9)
        self.assertEqual(self.manifest()["exit"]["code"], 9)

    def test_a_program_that_becomes_another_is_one_process(self):
        self.fathom("run", "-o", "session", "--", "sh", "-c", "exec sleep 0.3")
        rows = self.processes()
        self.assertEqual(len(rows), 1)
        self.assertEqual(rows[0]["command"], ["sleep", "0.3"])

    def test_the_capture_file_has_the_processes_too(self):
        self.fathom("run", "-o", "session", "--", "sh", "-c", "sleep 0.2; exit 3")
        done = self.fathom("processes", "session", "--json")
        rows = json.loads(done.stdout)
        rows = rows["rows"] if "rows" in rows else rows["inputs"][0]["rows"]
        self.assertIn("3", {str(row["exit"]) for row in rows})


class Folders(Sandbox):
    def test_a_run_has_a_folder_of_its_own_named_after_the_script(self):
        (self.folder / "train.py").write_text("pass\n")
        for _ in range(2):
            self.fathom("run", "--", PYTHON, "train.py")
        names = sorted(path.name for path in (self.folder / "fathom-runs").iterdir())
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertRegex(name, r"^\d{8}-\d{6}-train(-\d+)?$")

    def test_a_folder_with_something_in_it_is_refused_before_the_program_runs(self):
        (self.folder / "full").mkdir()
        (self.folder / "full/file").write_text("mine")
        done = self.fathom("run", "-o", "full", "--", "touch", "ran")
        self.assertEqual(done.returncode, 2)
        self.assertIn("empty folder", done.stderr)
        self.assertFalse((self.folder / "ran").exists())

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "only root may mount a small disk")
    def test_on_a_full_disk_the_program_does_not_run_and_that_is_said(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("this container may not mount")
        try:
            with open(disk / "fill", "wb", buffering=0) as file, contextlib.suppress(OSError):
                for _ in range(64):
                    file.write(b"x" * 1024)
            done = subprocess.run([FATHOM, "run", "--", "echo", "ran"], cwd=disk, capture_output=True, text=True,
                                  timeout=LIMIT, check=False, env=self.environment())
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn("No space left on device; the program has not run (-o names another folder)", done.stderr)
            self.assertEqual(list((disk / "fathom-runs").glob("*")) if (disk / "fathom-runs").exists() else [], [])
        finally:
            subprocess.run(["umount", "-l", str(disk)], check=False)

    @unittest.skipIf(os.geteuid() == 0 and not shutil.which("setpriv"), "root may write everywhere")
    def test_a_folder_that_cannot_be_written_to_is_no_obstacle(self):
        here = self.folder / "locked"
        temporary = self.folder / "temporary"
        here.mkdir(mode=0o555)
        temporary.mkdir()
        temporary.chmod(0o777)
        self.folder.chmod(0o755)
        command = [FATHOM, "run", "--", "echo", "ran"]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *command]
        done = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=LIMIT, check=False,
                              env=self.environment(TMPDIR=str(temporary), HOME="/nonexistent"))
        if "Permission denied" in done.stderr and "setpriv" in done.stderr:
            self.skipTest("the binary lies where other users may not look")
        self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)
        self.assertIn("-o names another folder", done.stderr)
        self.assertEqual(len(list(temporary.glob("fathom-runs-*/*/manifest.json"))), 1)


class Manifests(Sandbox):
    def test_conditions_are_complete(self):
        self.fathom("run", "-o", "session", "--with", "shapes", "--", "true")
        manifest = self.manifest()
        self.assertEqual(manifest["schema"], "fathom-run/1")
        self.assertEqual(manifest["command"], ["true"])
        self.assertEqual(manifest["directory"], os.path.realpath(self.folder))
        self.assertGreater(manifest["host"]["cores"], 0)
        self.assertEqual(len(manifest["host"]["load"]), 3)
        self.assertLessEqual(manifest["started_unix_ns"], manifest["ended_unix_ns"])
        self.assertEqual(manifest["options"]["recording"]["with"], ["shapes"])
        self.assertTrue(all({"what", "why", "remedy"} <= set(row) for row in manifest["not_recorded"]))

    def test_it_is_there_before_the_program_runs_and_has_no_end_then(self):
        self.fathom("run", "-o", "session", "--", "cp", "session/manifest.json", "early.json")
        early = json.loads((self.folder / "early.json").read_text())
        self.assertIn("started_unix_ns", early)
        self.assertNotIn("ended_unix_ns", early)

    def test_revision_and_changes_of_the_sources_are_known(self):
        git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
        (self.folder / "file").write_text("1\n")
        for arguments in (["init", "-q"], ["add", "file"], ["commit", "-q", "-m", "first"]):
            subprocess.run([*git, *arguments], cwd=self.folder, check=True, capture_output=True, timeout=LIMIT)
        head = subprocess.run([*git, "rev-parse", "HEAD"], cwd=self.folder, check=True, capture_output=True, text=True,
                              timeout=LIMIT).stdout.strip()
        self.fathom("run", "-o", "clean", "--", "true")
        self.assertEqual(self.manifest("clean")["git"], {"revision": head, "dirty": False})
        (self.folder / "file").write_text("2\n")
        self.fathom("run", "-o", "changed", "--", "true")
        self.assertEqual(self.manifest("changed")["git"], {"revision": head, "dirty": True})

    def test_no_git_is_no_obstacle(self):
        self.assertEqual(self.fathom("run", "-o", "session", "--", "/bin/true", PATH="/nowhere").returncode, 0)
        self.assertNotIn("git", self.manifest())

    def test_secrets_do_not_get_into_the_folder(self):
        secrets = ["hunter2hunter2", "hf_abcdefghijklmnopqrstuvwxyz", "tok3ntok3n"]
        self.fathom("run", "-o", "session", "--", PYTHON, "-c", "import time; time.sleep(0.2)", "--password", secrets[0],
                    f"--token={secrets[2]}", secrets[1], HF_TOKEN=secrets[1], WANDB_API_KEY=secrets[0],
                    CUDA_VISIBLE_DEVICES="0", HF_ENDPOINT=f"https://me:{secrets[2]}@example.org")
        environment = self.manifest()["environment"]
        self.assertEqual(environment["CUDA_VISIBLE_DEVICES"], "0")
        self.assertEqual(environment["HF_TOKEN"], "[redacted]")
        for path in (self.folder / "session").rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                for secret in secrets:
                    self.assertNotIn(secret.encode(), data, path.name)

    def test_what_is_not_recorded_is_said_with_the_option_that_would(self):
        done = self.fathom("run", "-o", "native", "--telemetry", "0", "--", "sleep", "0.1")
        self.assertIn("Not recorded", done.stderr)
        self.assertIn("--telemetry 0", done.stderr)
        done = self.fathom("run", "-o", "isolated", "--", PYTHON, "-I", "-c", "pass")
        self.assertIn("started with -I", done.stderr)
        done = self.fathom("run", "-o", "plain", "--", PYTHON, "-c", "pass")
        self.assertIn("--with functions", done.stderr)

    def test_a_static_program_is_recorded(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        source = self.folder / "main.c"
        source.write_text("int main(void) { return 6; }\n")
        if compiler is None or subprocess.run([compiler, "-static", str(source), "-o", str(self.folder / "static")],
                                              capture_output=True, timeout=LIMIT, check=False).returncode != 0:
            self.skipTest("no compiler for static programs")
        self.assertEqual(self.fathom("run", "-o", "session", "--", "./static").returncode, 6)
        self.assertEqual(self.manifest()["exit"]["code"], 6)


class Doctor(Sandbox):
    def test_every_line_has_a_state_and_what_is_missing_a_remedy(self):
        done = self.fathom("doctor", "--json")
        self.assertEqual(done.returncode, 0)
        report = json.loads(done.stdout)
        self.assertEqual(report["schema"], "fathom.doctor/1")
        sections = {check["section"] for check in report["checks"]}
        self.assertLessEqual({"GPU", "Python", "Telemetry", "Permissions", "Limits"}, sections)
        for check in report["checks"]:
            self.assertIn(check["state"], {"ok", "limited", "missing", "info"})
            if check["state"] in ("missing", "limited"):
                self.assertTrue(check["lost"] and check["remedy"], check)

    def test_the_python_of_the_environment_is_asked(self):
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", "env"], cwd=self.folder, check=True, timeout=LIMIT)
        done = self.fathom("doctor", VIRTUAL_ENV=str(self.folder / "env"))
        self.assertIn("env/bin/python", done.stdout.replace("\n" + " " * 32, ""))

    def test_an_injected_profiler_is_named(self):
        done = self.fathom("doctor", CUDA_INJECTION64_PATH="/opt/other.so")
        self.assertIn("unset CUDA_INJECTION64_PATH", done.stdout)


class Daemon:
    """What libkineto does in a program with KINETO_USE_DAEMON=1: asks, and writes a trace when told to."""

    TRACE = {"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1.0 + n * 10,
                              "dur": 5.0} for n in range(3)]}

    def __init__(self, folder, pids, kinds=3):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(os.path.join(folder, "client"))
        self.socket.settimeout(0.05)
        self.daemon = os.path.join(folder, "dynolog")
        self.request = struct.pack("<iiq", kinds, len(pids), 0) + struct.pack(f"<{len(pids)}i", *pids)
        self.orders: list[str] = []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.ask)
        self.thread.start()

    def ask(self):
        while not self.stop.is_set():
            try:
                self.socket.sendto(struct.pack("<Q32s", len(self.request), b"req") + self.request, self.daemon)
                reply = self.socket.recv(65536)
            except OSError:
                self.stop.wait(0.01)
                continue
            size, kind = struct.unpack("<Q32s", reply[:40])
            order = reply[40:40 + size].decode()
            if kind.rstrip(b"\0") == b"req" and order:
                self.orders.append(order)
                settings = dict(line.split("=", 1) for line in order.splitlines())
                pathlib.Path(settings["ACTIVITIES_LOG_FILE"]).write_text(json.dumps(self.TRACE))

    def end(self):
        self.stop.set()
        self.thread.join()
        self.socket.close()


class Attach(Sandbox):
    def program(self, **settings):
        """A process whose daemon would listen in our folder."""
        process = subprocess.Popen(["sleep", "100"], env=self.environment(
            KINETO_IPC_SOCKET_DIR=str(self.folder), KINETO_ONDEMAND_TRACE_DIR=str(self.folder), **settings))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        # Until it has become the program, its environment is ours.
        until = time.monotonic() + LIMIT
        while b"KINETO_IPC" not in pathlib.Path(f"/proc/{process.pid}/environ").read_bytes() and time.monotonic() < until:
            time.sleep(0.005)
        return process.pid

    def client(self, pids, **settings):
        client = Daemon(str(self.folder), pids, **settings)
        self.addCleanup(client.end)
        return client

    def test_a_program_that_asks_gets_one_order_and_its_trace_is_diagnosed(self):
        pid = self.program(KINETO_USE_DAEMON="1")
        client = self.client([pid, 1])
        done = self.fathom("attach", str(pid), "--duration", "250ms", "--with", "shapes", "-o", "session")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(client.orders), 1)
        self.assertIn("ACTIVITIES_DURATION_MSECS=250\n", client.orders[0])
        self.assertIn("PROFILE_REPORT_INPUT_SHAPES=true\n", client.orders[0])
        self.assertTrue((self.folder / f"session/torch-{pid}-1.pt.trace.json").exists())
        self.assertEqual(list(self.folder.glob("fathom-attach-*")), [])
        self.assertIn("Verdict", done.stdout)

    def test_a_launcher_s_child_is_recorded(self):
        pid = self.program(KINETO_USE_DAEMON="1")
        child = self.program(KINETO_USE_DAEMON="1")
        self.client([child, pid])
        done = self.fathom("attach", str(pid), "--duration", "100ms", "--no-diagnose", "-o", "session")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / f"session/torch-{child}-1.pt.trace.json").exists())

    def test_others_get_no_order(self):
        pid = self.program(KINETO_USE_DAEMON="1")
        other = self.client([1])
        done = self.fathom("attach", str(pid), "--timeout", "300ms", "-o", "session")
        self.assertEqual(done.returncode, 2)
        self.assertIn("processes that did ask: 1", done.stderr)
        self.assertEqual(other.orders, [])
        self.assertFalse((self.folder / "session").exists())

    def test_a_program_that_cannot_be_asked_is_sampled(self):
        program = ("import threading\n"
                   "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
                   "def compute():\n"
                   "    return sum(range(1000))\n"
                   "open('up', 'w').write('x\\n')\n"
                   "while True:\n"
                   "    compute()\n")
        process = subprocess.Popen([sys.executable, "-c", program], cwd=self.folder, env=self.environment())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.await_file("up")
        done = self.fathom("attach", str(process.pid), "--duration", "1s", "-o", "session")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("was not started with KINETO_USE_DAEMON=1", done.stderr)
        self.assertIsNone(process.poll())
        self.assertIn("cpu-bound", done.stdout)
        self.assertIn("compute", done.stdout)
        manifest = json.loads((self.folder / "session/manifest.json").read_text())
        self.assertEqual(manifest["options"]["recording"]["with"], ["samples"])
        hot = json.loads(self.fathom("hot", "session", "--json").stdout)
        self.assertTrue(hot["rows"])
        self.assertRegex((self.folder / "session/monitor.fathom").read_bytes(), rb"(?s)samples\.rate_hz.{8}100\D")
        done = self.fathom("attach", str(process.pid), "--duration", "100ms", "--rate", "250", "--no-diagnose", "-o", "quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex((self.folder / "quick/monitor.fathom").read_bytes(), rb"(?s)samples\.rate_hz.{8}250\D")
        self.assertIn("at most 10000", self.fathom("attach", str(process.pid), "--rate", "10001").stderr)

    def test_of_programs_that_cannot_be_asked_one_is_named(self):
        pids = [self.program(), self.program()]
        done = self.fathom("attach", *map(str, pids), "-o", "session")
        self.assertEqual(done.returncode, 2)
        self.assertIn("name one", done.stderr)
        self.assertFalse((self.folder / "session").exists())

    def test_a_program_that_is_profiled_already_is_told_apart(self):
        pid = self.program(KINETO_USE_DAEMON="1")
        self.client([pid], kinds=0)
        done = self.fathom("attach", str(pid), "--timeout", "300ms", "-o", "session")
        self.assertIn("profiled by another tool", done.stderr)

    def test_no_such_process(self):
        process = subprocess.Popen(["true"])
        process.wait()
        done = self.fathom("attach", str(process.pid))
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"there is no process {process.pid}", done.stderr)

    def test_another_daemon_is_not_disturbed(self):
        pid = self.program(KINETO_USE_DAEMON="1")
        daemon = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(daemon.close)
        daemon.bind(str(self.folder / "dynolog"))
        done = self.fathom("attach", str(pid))
        self.assertEqual(done.returncode, 2)
        self.assertIn("another daemon", done.stderr)
        self.assertIn(f"dyno gputrace --pids {pid}", done.stderr)
        self.assertTrue((self.folder / "dynolog").exists())


if __name__ == "__main__":
    # A core dump of a program that dies on purpose is of no use.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
