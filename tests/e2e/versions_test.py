"""Recordings and baselines of each version so far are read, by the whole program; newer ones are refused with a sentence."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
DATA = ROOT / "tests/data"
MAGIC = b"FATHOM"
SCHEMA = re.compile(r"(fathom(?:-run|\.baseline))/(\d+)")


def fathom(*words):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "240"}
    return subprocess.run([FATHOM, *map(str, words)], capture_output=True, text=True, check=False, env=environment,
                          stdin=subprocess.DEVNULL, timeout=120)


def version_of_capture(path: pathlib.Path) -> int:
    head = path.read_bytes()[:8]
    assert head.startswith(MAGIC), path
    return head[len(MAGIC)]


def version_in(path: pathlib.Path) -> int:
    return int(SCHEMA.search(path.read_text())[2])


class Versions(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-versions-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def written_now(self) -> dict[str, int]:
        """The versions that this program writes."""
        session, baseline = self.folder / "session", self.folder / "now.baseline.json"
        self.assertEqual(fathom("run", "--no-diagnose", "-o", session, "--", "true").returncode, 0)
        self.assertEqual(fathom("baseline", "save", baseline, ROOT / "examples/resnet50_v100.pt.trace.json.gz").returncode, 0)
        return {"session": version_in(session / "manifest.json"), "baseline": version_in(baseline),
                "capture": version_of_capture(session / "monitor.fathom")}

    def test_a_file_of_each_version_is_kept_and_read(self):
        """Whoever makes a new version keeps a file of the old one in tests/data."""
        sessions = [path.parent for path in (DATA / "runs").glob("*/manifest.json")]
        captures = [path for session in sessions for path in session.glob("*.fathom")]
        baselines = list((DATA / "baselines").glob("*.json"))
        kept = {"session": {version_in(session / "manifest.json") for session in sessions},
                "capture": {version_of_capture(path) for path in captures},
                "baseline": {version_in(path) for path in baselines}}
        for kind, version in self.written_now().items():
            self.assertEqual(kept[kind], set(range(1, version + 1)), kind)
        for path in (*sessions, *captures):
            done = fathom("info", path, "--json")
            self.assertEqual((done.returncode, done.stderr), (0, ""), path)
            answer = json.loads(done.stdout)
            for part in answer.get("inputs", [answer]):
                self.assertTrue(part["rows"], path)
        for session in sessions:
            self.assertEqual(fathom("diagnose", session).returncode, 0, session)
        for path in baselines:
            self.assertEqual(fathom("baseline", "show", path).returncode, 0, path)

    def refuses(self, version: int, *words):
        done = fathom(*words)
        self.assertEqual(done.returncode, 3, (words, done.stdout))
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertRegex(done.stderr, rf"version.*\b{version}\b")
        self.assertRegex(done.stderr, r"newer|this Fathom reads version")

    def test_newer_ones_are_refused_with_a_sentence(self):
        session, file, baseline = self.folder / "newer", self.folder / "newer.fathom", self.folder / "newer.json"
        shutil.copytree(DATA / "runs/plain", session)
        manifest = session / "manifest.json"
        next_session = version_in(manifest) + 1
        manifest.write_text(SCHEMA.sub(rf"\1/{next_session}", manifest.read_text(), count=1))
        capture = (DATA / "runs/plain/monitor.fathom").read_bytes()
        next_capture = capture[len(MAGIC)] + 1
        file.write_bytes(MAGIC + bytes([next_capture]) + capture[len(MAGIC) + 1:])
        newest = max((DATA / "baselines").glob("*.json"), key=version_in)
        text = newest.read_text()
        baseline.write_text(SCHEMA.sub(rf"\1/{self.written_now()['baseline'] + 1}", text, count=1))
        for words in (("diagnose",), ("info",), ("steps", "--json"), ("export", "-o", self.folder / "out.json"),
                      ("check", "--budget", "launches+0", "--against", newest)):
            self.refuses(next_session, words[0], session, *words[1:])
            self.refuses(next_capture, words[0], file, *words[1:])
        self.refuses(version_in(baseline), "baseline", "show", baseline)

    def test_a_newer_file_among_others_of_a_session_is_told(self):
        session = self.folder / "mixed"
        shutil.copytree(DATA / "runs/plain", session)
        (newer,) = session.glob("process-*.fathom")
        data = newer.read_bytes()
        newer.write_bytes(MAGIC + bytes([data[len(MAGIC)] + 1]) + data[len(MAGIC) + 1:])
        done = fathom("info", session)
        self.assertIn(newer.name, done.stdout + done.stderr)
        self.assertRegex(done.stdout + done.stderr, rf"version {data[len(MAGIC)] + 1}\b")
        # What the others hold is diagnosed, with a warning.
        done = fathom("diagnose", session)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Verdict", done.stdout)
        self.assertRegex(fathom("health", session).stdout, rf"{re.escape(newer.name)}.*version {data[len(MAGIC)] + 1}\b")

    def test_facts_of_a_newer_process_are_left_out_with_a_warning(self):
        session = self.folder / "facts"
        shutil.copytree(DATA / "runs/plain", session)
        (path,) = session.glob("process-*.json")
        facts = json.loads(path.read_text())
        kind, version = facts["schema"].split("/")
        facts["shape_of_stones"] = "round"
        path.write_text(json.dumps(facts))
        self.assertIn("shape_of_stones", fathom("info", session, "--json").stdout)
        for newer in (str(int(version) + 1), "99999999999999999999", "next"):
            path.write_text(json.dumps({**facts, "schema": f"{kind}/{newer}"}))
            answer = fathom("info", session, "--json")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertNotIn("shape_of_stones", answer.stdout)
            warning = f"{path.name} is of version {newer}; this Fathom reads version {version}: the facts about the program are left out"
            self.assertIn(warning, answer.stdout)
            self.assertIn(warning, " ".join(fathom("health", session).stdout.split()))
            self.assertIn("Verdict", fathom("diagnose", session).stdout)


if __name__ == "__main__":
    unittest.main()
