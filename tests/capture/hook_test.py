#!/usr/bin/env python3
"""Plain Python programs under the hook: what is recorded of them, and that they do not notice."""

from __future__ import annotations

import ast
import errno
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock
import zipfile

import captured
from interpreters import of_pyenv

FORBIDDEN = "Error in sitecustomize"


class Plain(unittest.TestCase):
    def setUp(self) -> None:
        self.captures = captured.Captures()
        self.folder = pathlib.Path(self.captures._folder)

    def tearDown(self) -> None:
        self.captures.close()

    def moments(self, run: captured.Run, kind: str) -> list[tuple[object, ...]]:
        return [f for k, f in run.records(run.process()["pid"]) if k == kind]

    def test_phases_threads_and_pauses_are_recorded(self) -> None:
        run = self.captures.run("plain.py")
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertIn("worked", run.out)
        begun = [(f[3], f[4]) for f in self.moments(run, "begin")]
        self.assertEqual([n for n, c in begun if n != "thread"], ["import", "main", "exit"])
        self.assertIn(("thread", "phase"), begun)
        self.assertEqual(len(self.moments(run, "end")), len(begun))
        self.assertIn("adder", [f[2] for f in self.moments(run, "thread")])
        self.assertTrue(any(s.value == 2 for s in run.slices("gc")))
        self.assertEqual(run.process()["threads_started"], 1)

    def test_importing_that_was_over_before_the_recorder_began_took_no_time(self) -> None:
        """On a slow machine all of its start may lie between the last import that was seen and the beginning."""
        sys.path.insert(0, str(captured.HOOK))
        self.addCleanup(sys.path.remove, str(captured.HOOK))
        from fathom_recorder import recorder

        made = recorder.Recorder.__new__(recorder.Recorder)
        for seen, ended in ((90, 100), (110, 110)):
            written: list[tuple[str, int]] = []
            made.began_ns, made._writer_main_tid = 100, 1
            made.writer = mock.Mock()
            made.writer.end = lambda when, _tid: written.append(("end", when))
            made.writer.moment = lambda _kind, name, _category, when, _tid: written.append((name, when))
            made._begin_main(seen)
            self.assertEqual(written, [("end", ended), ("main", ended)])

    def test_modules_that_are_imported_later_are_a_phase_of_their_own(self) -> None:
        for name, then in (("late_a", "late_b"), ("late_b", "late_c"), ("late_c", "wave")):
            text = f"import time; time.sleep(0.02); import {then}"
            (self.folder / f"{name}.py").write_text(text)
        code = (
            f"import sys, time, threading; sys.path.append({str(self.folder)!r}); time.sleep(0.4)\n"
            "import late_a; time.sleep(0.4)\n"
            "begin = threading.Thread(target=lambda: __import__('late_d')); begin.start(); begin.join()"
        )
        (self.folder / "late_d.py").write_text("import time; time.sleep(0.02); import sched")
        run = self.captures.run("-c", code)
        self.assertEqual((run.code, run.err), (0, ""))
        (late,) = [phase for phase in run.slices("phase") if phase.name == "late import"]
        self.assertGreaterEqual(late.duration, 60_000_000)  # to the last module, which sleeps not
        self.assertEqual(late.pid, late.tid)

    def test_a_child_that_a_thread_forked_has_its_late_imports(self) -> None:
        for name, then in (("late_e", "late_f"), ("late_f", "sched")):
            text = f"import time; time.sleep(0.02); import {then}"
            (self.folder / f"{name}.py").write_text(text)
        code = (
            "import os, sys, time, threading, warnings; warnings.simplefilter('ignore')\n"
            f"sys.path.append({str(self.folder)!r}); time.sleep(0.4)\n"
            "def work():\n"
            "    child = os.fork()\n"
            "    if child: os.waitpid(child, 0)\n"
            "    else:\n"
            "        time.sleep(0.4); import late_e\n"
            "        from fathom_recorder import recorder\n"
            "        recorder.current.end()  # with the thread the process ends at once\n"
            "thread = threading.Thread(target=work); thread.start(); thread.join()"
        )
        run = self.captures.run("-c", code)
        self.assertEqual((run.code, run.err), (0, ""))
        child = run.process("child")["pid"]
        phases = [phase for phase in run.slices("phase") if phase.name == "late import"]
        self.assertEqual([(phase.pid, phase.tid) for phase in phases], [(child, child)])

    def test_what_the_main_thread_did_once_it_had_imported_is_summed_up(self) -> None:
        code = "import time\nfor _ in range(30):\n time.sleep(0.1)"
        facts = self.captures.run("-c", code).process()["thread_time"]
        main = facts["main"]
        self.assertGreater(main["wall_ns"], 1_000_000_000)
        # It sleeps for nearly all of that.
        self.assertLess(main["cpu_ns"] + main["preempted_ns"], main["wall_ns"] / 2)
        self.assertIn("<string>:3 in <module>", [place for place, _ in facts["waits"]])
        self.assertNotIn("thread_time", self.captures.run("-c", "pass").process())

    def test_waits_in_a_data_loader_are_told_from_others(self) -> None:
        code = (
            "import time\n"
            "loader = compile('def fetch(get): get()', '/x/torch/utils/data/dataloader.py', 'exec')\n"
            "exec(loader)\n"
            "def get(): time.sleep(0.1)\n"
            "def other(): time.sleep(0.1)\n"
            "for _ in range(15):\n fetch(get)\n other()"
        )
        facts = self.captures.run("-c", code).process()["thread_time"]
        self.assertEqual([place for place, _ in facts["waits"]], ["<string>:5 in other"])
        self.assertGreater(facts["fetching"], 0)
        self.assertEqual(facts["asleep"], facts["fetching"] + sum(n for _, n in facts["waits"]))

    def test_children_of_all_kinds_have_files_of_their_own(self) -> None:
        run = self.captures.run("plain.py", "fork", "spawn", "forkserver")
        self.assertEqual(run.code, 0, run.err)
        names = [p["name"] for p in run.processes() if p["role"] == "child"]
        self.assertGreaterEqual(len(names), 5, names)
        self.assertGreaterEqual(run.roles()["child"], 5)
        self.assertEqual(run.roles()["main"], 1)

    def test_a_program_that_becomes_another_leaves_what_it_did(self) -> None:
        code = "import gc, os; gc.collect(); os.execvp({0!r}, [{0!r}, *{1!r}])"
        run = self.captures.run("-c", code.format("true", []))
        self.assertEqual((run.code, run.err), (0, ""))
        (facts,) = run.processes()
        self.assertEqual(facts["role"], "main")
        self.assertIn("thread", [kind for kind, _ in run.records(facts["pid"])])
        # Another Python in the same process adds to its file, and is what it was.
        run = self.captures.run("-c", code.format(sys.executable, ["-c", "raise SystemExit(4)"]))
        self.assertEqual((run.code, run.err), (4, ""))
        self.assertEqual([p["role"] for p in run.processes()], ["main"])
        self.assertEqual(self.moments(run, "process")[-1][5], "main")
        self.assertEqual(run.ends(run.process()["pid"]), 1)

    def test_a_program_that_cannot_become_another_goes_on(self) -> None:
        code = "import os\ntry:\n os.execv('/nowhere', ['x'])\nexcept OSError:\n print('still')"
        run = self.captures.run("-c", code)
        self.assertEqual((run.code, run.out, run.err), (0, "still\n", ""))
        self.assertEqual(run.ends(run.process()["pid"]), 1)

    def test_before_the_first_profile_an_empty_one_is_of_the_cpu_or_of_what_cuda_13_0_needs(self) -> None:
        code = (
            "import sys, types; from unittest import mock\n"
            f"sys.path.insert(0, {str(captured.HOOK)!r})\n"
            "from fathom_recorder.torch_profile import Profiling\n"
            "for version in ('12.8', '13.0', '13.1', None):\n"
            "    torch = mock.MagicMock()\n"
            "    torch.version.cuda = version\n"
            "    torch.profiler.ProfilerActivity.CPU = 'cpu'\n"
            "    watch = types.SimpleNamespace(torch=torch, warmed=False)\n"
            "    Profiling(watch, None, 0)._warm({'activities': ['cpu', 'cuda'], 'with_stack': True})\n"
            "    print(torch.profiler.profile.call_args.kwargs['activities'])\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        only = "['cpu']\n"
        self.assertEqual(done.stdout, only + "['cpu', 'cuda']\n" + 2 * only, done.stderr)

    def test_a_further_piece_begins_with_a_step_of_warm_up_where_cupti_loses_its_first_kernels(self) -> None:
        code = (
            "import sys, types; from unittest import mock\n"
            f"sys.path.insert(0, {str(captured.HOOK)!r})\n"
            "from fathom_recorder import failures, torch_profile\n"
            "from fathom_recorder.plan import Window\n"
            "torch_profile.end_open_ranges = lambda torch: None\n"
            "def rest(version, gpu=True, began=0):\n"
            "    torch = mock.MagicMock()\n"
            "    torch.version.cuda = version\n"
            "    torch.cuda.is_available.return_value = gpu\n"
            "    torch.cuda._is_in_bad_fork = False\n"
            "    watch = mock.MagicMock(torch=torch, warmed=True)\n"
            "    watch.pieces.is_full.return_value = True\n"
            "    window = torch_profile.Profiling(watch, Window(0, 10, (), True), 5)\n"
            "    window.begin()\n"
            "    window._began_ns -= began\n"
            "    window.step(5)\n"
            "    print(window.rest.warmup, window.rest.active, len(failures.notes()))\n"
            "for version in ('12.4', '13.1', None, 'x'):\n"
            "    rest(version)\n"
            "rest('12.8', gpu=False)\n"
            "rest('12.8', began=6_000_000_000)\n"
            "for version in ('12.6', '12.8', '13.0'):\n"
            "    rest(version)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.stdout, 6 * "0 9 0\n" + 3 * "1 9 1\n", done.stderr)

    def test_a_gpu_is_not_touched_before_the_program_does_whichever_file_shows_its_driver(self) -> None:
        code = (
            "import os, sys; from unittest import mock\n"
            f"sys.path.insert(0, {str(captured.HOOK)!r})\n"
            "from fathom_recorder import torch_threads\n"
            "def may(file, initialised):\n"
            "    torch = mock.MagicMock()\n"
            "    torch.cuda.is_initialized.return_value = initialised\n"
            "    with mock.patch.object(os.path, 'exists', lambda path: path == file):\n"
            "        return int(torch_threads.Kineto(torch, lambda: False)._may_touch_device())\n"
            "files = ('/dev/nvidiactl', '/dev/dxg', '/proc/driver/nvidia/version', '/dev/none')\n"
            "print([may(file, False) for file in files], [may(file, True) for file in files])\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.stdout, "[0, 0, 0, 1] [1, 1, 1, 1]\n", done.stderr)

    def test_a_process_that_the_hook_is_in_says_so_to_libraries_in_it(self) -> None:
        # libfathom_cuda.so leaves CUPTI to torch.profiler only where the hook will start it.
        code = "import ctypes, os; c = ctypes.CDLL(None); c.getenv.restype = ctypes.c_char_p;"
        code += " said = (c.getenv(b'FATHOM_PARENT') or b'').split(b':')[0]; print(int(said) == os.getpid())"
        self.assertEqual(self.captures.run("-c", code).out, "True\n")
        child = f"import os\npid = os.fork()\nif not pid:\n {code}\n os._exit(0)\nos.waitpid(pid, 0)"
        self.assertEqual(self.captures.run("-u", "-c", child).out, "True\n")
        isolated = f"import subprocess, sys; subprocess.run([sys.executable, '-I', '-c', {code!r}])"
        self.assertEqual(self.captures.run("-c", isolated).out, "False\n")
        # Of what a process has set itself the text does not lie where the kernel put the environment.
        code = "import ctypes, os; c = ctypes.CDLL(None); c.getenv.restype = ctypes.c_void_p;"
        code += " c.getauxval.restype = ctypes.c_ulong; random, name = c.getauxval(25), c.getauxval(31);"
        code += " print(int(os.environ['FATHOM_PARENT'].split(':')[0]) == os.getpid(),"
        code += " random < c.getenv(b'FATHOM_PARENT') < name)"
        self.assertEqual(self.captures.run("-c", code).out, "True False\n")
        again = "import os, sys; os.execv(sys.executable, [sys.executable, {} '-c', {!r}])"
        self.assertEqual(self.captures.run("-c", again.format("", code)).out, "True False\n")
        self.assertEqual(self.captures.run("-c", again.format("'-I',", code)).out, "True True\n")

    def test_a_process_tells_what_it_used(self) -> None:
        run = self.captures.run("plain.py")
        (exit_record,) = self.moments(run, "exit")
        user, system, peak, wall = exit_record[3:7]
        self.assertGreater(user + system, 0)
        self.assertGreater(peak, 1 << 20)
        self.assertGreater(wall, 0)

    def test_the_exit_code_and_the_error_of_a_failing_program_stay(self) -> None:
        run = self.captures.run("-c", "import sys; print('out'); sys.exit(7)")
        self.assertEqual((run.code, run.out, run.err), (7, "out\n", ""))
        run = self.captures.run("-c", "raise KeyError('mine')")
        self.assertEqual(run.code, 1)
        self.assertEqual(run.err.splitlines()[-1], "KeyError: 'mine'")
        self.assertNotIn("fathom", run.err)

    def test_the_program_sees_its_usual_path_and_arguments(self) -> None:
        code = "import sys; print(sys.path, sys.argv, sys.flags)"
        plain = subprocess.run(
            [sys.executable, "-c", code, "a"],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # as of what is recorded
        )
        self.assertEqual(self.captures.run("-c", code, "a").out, plain.stdout)

    def test_another_sitecustomize_is_read_as_well(self) -> None:
        (self.folder / "other").mkdir()
        (self.folder / "other/sitecustomize.py").write_text("import builtins; builtins.mine = 5\n")
        environment = self.captures.environment({})
        environment["PYTHONPATH"] += os.pathsep + str(self.folder / "other")
        code = "import sys; print(mine, sys.modules['sitecustomize'].__file__)"
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        self.assertEqual(done.stderr, "")
        self.assertTrue(done.stdout.startswith("5 "), done.stdout)
        self.assertIn("other/sitecustomize.py", done.stdout)

    def test_an_error_in_another_sitecustomize_is_reported_as_always(self) -> None:
        (self.folder / "other").mkdir()
        (self.folder / "other/sitecustomize.py").write_text("raise ValueError('theirs')\n")
        environment = self.captures.environment({})
        environment["PYTHONPATH"] += os.pathsep + str(self.folder / "other")
        done = subprocess.run(
            [sys.executable, "-c", "print(1)"], env=environment, capture_output=True, text=True
        )
        self.assertIn(FORBIDDEN, done.stderr)
        self.assertIn("theirs", done.stderr)
        self.assertEqual(done.stdout, "1\n")

    def test_modules_zip_files_and_standard_input_run(self) -> None:
        with zipfile.ZipFile(self.folder / "app.zip", "w") as archive:
            archive.writestr("__main__.py", "import sys; print('zip', sys.argv[1:])")
        self.assertEqual(self.captures.run("app.zip", "x").out, "zip ['x']\n")
        self.assertIn("usage", self.captures.run("-m", "json.tool", "--help").out)

    def test_a_virtual_environment_keeps_its_own_packages(self) -> None:
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", "own"], cwd=self.folder, check=True
        )
        captures = captured.Captures(str(self.folder / "own/bin/python"))
        run = captures.run("-c", "import sys; print(sys.prefix)")
        self.assertTrue(run.out.strip().endswith("own"), run.out)
        self.assertEqual(run.process()["role"], "main")
        captures.close()

    def test_what_the_program_installs_stays_its_own(self) -> None:
        code = (
            "import sys, signal, atexit\n"
            "assert sys.gettrace() is None and sys.getprofile() is None\n"
            "assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL\n"
            "events = []\n"
            "sys.setprofile(lambda *a: events.append(a[1])); len([]); sys.setprofile(None)\n"
            "atexit.register(print, 'first'); atexit.register(print, 'second')\n"
            "import cProfile; cProfile.run('sum([1])')\n"
        )
        run = self.captures.run("-c", code)
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue(run.out.endswith("second\nfirst\n"), run.out)

    def test_a_fork_brings_no_warning_of_threads(self) -> None:
        code = "import os; p = os.fork(); p or os._exit(0); os.waitpid(p, 0)"
        run = self.captures.run("-W", "error", "-c", code)
        self.assertEqual((run.code, run.err), (0, ""))

    def test_no_thread_of_ours_begins_when_the_program_has_ended(self) -> None:
        """One that begins while the interpreter ends may crash the program. The collection takes long
        enough to be recorded."""
        code = """
import gc, os, time
class Last:
    def __del__(self, collect=gc.collect, threads=os.listdir, write=os.write, sleep=time.sleep):
        self.rows = [[] for _ in range(200_000)]
        collect()
        sleep(0.02)
        write(1, b"%d" % len(threads("/proc/self/task")))
last = Last()
"""
        run = self.captures.run("-c", code)
        self.assertEqual((run.code, run.out, run.err), (0, "1", ""))

    def test_a_killed_program_leaves_what_it_had_handed_over(self) -> None:
        environment = self.captures.environment({})
        program = subprocess.Popen(
            [sys.executable, str(captured.PROGRAMS / "killed.py")],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert program.stdout is not None
        for _ in range(60):
            program.stdout.readline()
        program.kill()
        program.wait()
        program.stdout.close()
        path = pathlib.Path(environment["FATHOM_SESSION"]) / f"process-{program.pid}.fathom"
        pauses = [f for kind, f in captured.records(path) if kind == "slice"]
        self.assertGreater(len(pauses), 0)

    def test_functions_are_profiled_where_asked(self) -> None:
        run = self.captures.run("plain.py", options={"with": ["functions"]})
        self.assertEqual(run.code, 0, run.err)
        functions = self.moments(run, "function")
        found = {str(f[3]): f for f in functions}
        name = next(name for name in found if name.endswith("square"))
        # 20000 in the thread, 5000 on the main thread.
        self.assertEqual(found[name][4], 25000)
        self.assertTrue(str(found[name][1]).endswith("plain.py"))
        self.assertGreaterEqual(found[name][5], found[name][6])
        self.assertEqual(self.moments(self.captures.run("plain.py"), "function"), [])

    def test_an_unwritable_session_folder_leaves_the_program_alone(self) -> None:
        environment = self.captures.environment({})
        environment["FATHOM_SESSION"] = "/nowhere/at/all"
        done = subprocess.run(
            [sys.executable, "-c", "print(1)"], env=environment, capture_output=True, text=True
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""))

    def test_damaged_options_mean_the_defaults(self) -> None:
        environment = self.captures.environment({})
        environment["FATHOM_OPTIONS"] = "{nonsense"
        done = subprocess.run(
            [sys.executable, "-c", "print(1)"], env=environment, capture_output=True, text=True
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""))
        folder = pathlib.Path(environment["FATHOM_SESSION"])
        self.assertEqual(len(list(folder.glob("process-*.fathom"))), 1)

    def test_a_python_that_is_too_old_says_its_version_and_runs_on(self) -> None:
        environment = self.captures.environment({})
        start = (
            "import runpy, sys\n"
            "sys.version_info = (2, 7, 18, 'final', 0)\n"
            "try:\n    runpy.run_path({!r})\nexcept ImportError:\n    pass  # no other sitecustomize\nprint('on')\n"
        )
        path = str(captured.HOOK / "sitecustomize.py")
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", start.format(path)],
            env=environment,
            capture_output=True,
            text=True,
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "on\n", ""))
        (file,) = pathlib.Path(environment["FATHOM_SESSION"]).iterdir()
        self.assertEqual(file.read_text(), "2.7.18")

    def test_the_start_up_file_is_understood_by_every_python(self) -> None:
        """What 2.7 cannot read would be an error of each program that is started with it."""
        source = (captured.HOOK / "sitecustomize.py").read_text()
        source.encode("ascii")  # 2.7 wants a declaration for more
        later = (ast.JoinedStr, ast.AnnAssign, ast.AsyncFunctionDef, ast.Await, ast.NamedExpr)
        later += (ast.Nonlocal, ast.Starred, ast.YieldFrom)
        for node in ast.walk(ast.parse(source)):
            self.assertNotIsInstance(node, later)
            if isinstance(node, ast.FunctionDef):
                arguments = node.args
                self.assertIsNone(node.returns)
                self.assertEqual(arguments.kwonlyargs + arguments.posonlyargs, [])
                for each in (*arguments.args, arguments.vararg, arguments.kwarg):
                    self.assertIsNone(each and each.annotation)
            if isinstance(node, ast.Raise):
                self.assertIsNone(node.cause)
        self.assertNotIn("print(", source)

    def test_older_pythons_say_their_version_and_run_on(self) -> None:
        old = [path for version in ("2.7.*", "3.[4-7].*") for path in of_pyenv(version)]
        if not old:
            self.skipTest("no Python before 3.8 is installed")
        for python in old:
            captures = captured.Captures(str(python))
            self.addCleanup(captures.close)
            run = captures.run("-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])")
            self.assertEqual((run.code, run.err), (0, ""), str(python))
            (file,) = run.folder.glob("python-*.txt")
            self.assertEqual(file.read_text(), run.out.strip())

    def test_a_short_program_imports_nothing_for_us_but_what_is_built_in(self) -> None:
        code = "import sys; print(*sorted(sys.modules))"
        plain = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        more = set(self.captures.run("-c", code).out.split()) - set(plain.stdout.split())
        for heavy in ("typing", "functools", "collections", "re", "enum", "json", "threading"):
            self.assertNotIn(heavy, more)

    def test_a_full_disk_is_named_as_the_cause(self) -> None:
        code = (
            "import sys; sys.path.insert(0, {!r})\n"
            "from fathom_recorder import wire\n"
            "writer = wire.Writer('/dev/full', 1 << 20, 1 << 20)\n"
            "writer.slice('a', 'b', 0, 1); writer.flush(); print(*writer._dropped)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code.format(str(captured.HOOK))], capture_output=True, text=True
        )
        self.assertIn("could not be written: No space left on device", done.stdout, done.stderr)

    def test_a_limit_of_file_sizes_ends_no_program_and_is_named(self) -> None:
        code = (
            "import resource, signal, sys; sys.path.insert(0, {!r})\n"
            "from fathom_recorder import wire\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
            "writer = wire.Writer({!r}, 1 << 20, 1 << 20)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
            "for i in range(20000): writer.slice('a', 'b', i, 1)\n"
            "writer.flush(); print(*writer._dropped)\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            text = code.format(str(captured.HOOK), folder + "/a.fathom")
            done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
            size = os.path.getsize(folder + "/a.fathom")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("beyond the limit of file sizes (ulimit -f)", done.stdout)
        self.assertLessEqual(size, 20000)

    def test_what_a_full_disk_kept_from_being_recorded_is_not_our_failure(self) -> None:
        code = (
            "import errno, os, sys; sys.path.insert(0, {!r})\n"
            "from fathom_recorder import failures\n"
            "@failures.quietly\n"
            "def f(why): raise OSError(why, os.strerror(why))\n"
            "f({})\n"
            "print(failures.notes()[0]['why'], failures.notes()[0]['remedy'])\n"
        )
        for why, expected in (
            (errno.ENOSPC, "free some space"),
            (errno.EFBIG, "ulimit -f"),
            (errno.EIO, "please report this"),
        ):
            text = code.format(str(captured.HOOK), why)
            done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
            self.assertIn(os.strerror(why), done.stdout, done.stderr)
            self.assertIn(expected, done.stdout)

    def test_a_failure_that_cannot_be_noted_is_not_raised(self) -> None:
        code = (
            "import sys; sys.path.insert(0, {!r})\n"
            "from fathom_recorder import failures\n"
            "class Mute(Exception):\n"
            "    def __str__(self): raise MemoryError\n"
            "class Album: RECORDS = ['one', 'two']\n"
            "@failures.quietly\n"
            "def f(album, error): raise error\n"
            "print(f(Album(), Mute()), f(Album(), ValueError('v')), failures.notes())\n"
        )
        text = code.format(str(captured.HOOK))
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
        self.assertTrue(done.stdout.startswith("None None "), done.stderr)
        self.assertIn("{'what': 'f', 'why': 'ValueError: v'", done.stdout)

    def test_the_fallback_records_where_hooks_are_kept_out(self) -> None:
        recorder = str(captured.HOOK / "fathom_recorder")
        run = self.captures.run("-I", "-S", "-c", "print(1)")
        self.assertEqual(run.roles()["main"], 0)
        run = self.captures.run("-I", recorder, str(captured.PROGRAMS / "plain.py"))
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(run.roles()["main"], 1)
        run = self.captures.run("-I", "-S", recorder, "-m", "json.tool", "--help")
        self.assertIn("usage", run.out)


if __name__ == "__main__":
    unittest.main()
