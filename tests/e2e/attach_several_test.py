"""fathom attach with several processes, and what it says when there is nobody who will ask."""
import subprocess
import sys
import time
import unittest

import run_test

# Has a library of that name in its memory, as a program has that imported torch.
LOADED = ("import mmap, sys, time\n"
          "file = open(sys.argv[1], 'rb')\n"
          "held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
          "open(sys.argv[2], 'w').write('x\\n')\n"
          "time.sleep(1000)\n")


class Several(run_test.Sandbox):
    program = run_test.Attach.program
    client = run_test.Attach.client

    def loaded(self, number, **settings):
        """A process that looks as if it had loaded torch, whose daemon would listen in our folder."""
        library = self.folder / "libtorch_cpu.so"
        library.write_bytes(b"x" * 4096)
        process = subprocess.Popen([sys.executable, "-c", LOADED, str(library), str(self.folder / f"up-{number}")],
                                   env=self.environment(KINETO_USE_DAEMON="1", KINETO_IPC_SOCKET_DIR=str(self.folder),
                                                        KINETO_ONDEMAND_TRACE_DIR=str(self.folder), **settings))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.await_file(f"up-{number}")
        return process.pid

    def clients(self, *requests):
        """One asks after the other, from sockets of their own."""
        for number, pids in enumerate(requests):
            folder = self.folder / f"client-{number}"
            folder.mkdir()
            (folder / "dynolog").symlink_to(self.folder / "dynolog")
            client = run_test.Daemon(str(folder), pids)
            self.addCleanup(client.end)
            yield client

    def test_several_processes_are_gathered_and_begin_at_the_same_moment(self):
        pids = [self.loaded(0), self.loaded(1)]
        clients = list(self.clients(*([pid, 1] for pid in pids)))
        before = time.time()
        done = self.fathom("attach", *(str(pid) for pid in pids), "--duration", "100ms", "--no-diagnose", "-o",
                           "session")
        self.assertEqual(done.returncode, 0, done.stderr)
        for pid in pids:
            self.assertTrue((self.folder / f"session/torch-{pid}-1.pt.trace.json").exists())
        starts = {line for client in clients for order in client.orders for line in order.splitlines()
                  if line.startswith("PROFILE_START_TIME=")}
        self.assertEqual(len(starts), 1)
        self.assertGreater(int(starts.pop().split("=")[1]), before * 1000)
        self.assertIn("recorded 2 processes", done.stderr)

    def test_one_process_begins_at_once(self):
        pid = self.loaded(0)
        (client,) = self.clients([pid, 1])
        done = self.fathom("attach", str(pid), "--duration", "100ms", "--no-diagnose", "-o", "session")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("PROFILE_START_TIME=0\n", client.orders[0])

    def test_of_a_launcher_only_the_ranks_get_an_order(self):
        launcher = self.loaded(0)
        rank = self.loaded(1, RANK="0")
        clients = list(self.clients([rank, 1], [launcher, 1]))
        done = self.fathom("attach", str(launcher), str(rank), "--duration", "100ms", "--no-diagnose", "-o", "session")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([len(client.orders) for client in clients], [1, 0])

    def test_one_that_never_asks_is_named_and_the_others_are_kept(self):
        asks, silent = self.loaded(0), self.loaded(1)
        list(self.clients([asks, 1]))
        done = self.fathom("attach", str(asks), str(silent), "--duration", "100ms", "--no-diagnose", "-o", "session")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"process {silent}", done.stderr.split("did not ask for work in time")[0])
        self.assertTrue((self.folder / f"session/torch-{asks}-1.pt.trace.json").exists())

    def test_a_program_that_has_not_loaded_torch_is_said_at_once(self):
        pid = self.program(KINETO_USE_DAEMON="1")
        done = self.fathom("attach", str(pid), "--timeout", "200ms", "-o", "session")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"process {pid} has not loaded PyTorch yet", done.stderr)
        self.assertFalse((self.folder / "session").exists())

    def test_every_operand_has_to_be_a_process(self):
        pid = self.program(KINETO_USE_DAEMON="1")
        done = self.fathom("attach", str(pid), "none")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'none'", done.stderr)


if __name__ == "__main__":
    unittest.main()
