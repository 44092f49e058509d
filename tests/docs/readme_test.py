"""The commands of README.md run, and links of all pages lead to files. What README shows of the first command is
compared by reference_test.py, as all made parts are."""
import os
import pathlib
import re
import shlex
import subprocess
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples/README.md", *sorted((ROOT / "docs").glob("*.md"))]


def code(page: str) -> list[str]:
    """Lines of code of a page: indented, or fenced after a prompt."""
    return [match[1] or match[2] for match in re.finditer(r"^(?:    (\S.*)|\$ (.*))$", page, re.M)]


def run(command: str) -> subprocess.CompletedProcess:
    return subprocess.run([FATHOM, *shlex.split(command, comments=True)[1:]], cwd=ROOT, capture_output=True, text=True, timeout=120,
                          check=False)


class Readme(unittest.TestCase):
    def test_every_fathom_command_runs_and_finds_something(self):
        # What records needs PyTorch: tests/capture/torch_test.py.
        commands = [line for line in code(README) if re.match(r"fathom (?!run )", line)]
        self.assertGreaterEqual(len(commands), 5)
        for command in commands:
            done = run(command)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
            self.assertGreater(len(done.stdout.splitlines()), 3, command)

    def test_every_make_goal_exists(self):
        goals = re.findall(r"^([a-z][a-z0-9_ -]*):", (ROOT / "Makefile").read_text(), re.M)
        known = {goal for line in goals for goal in line.split()}
        for page in PAGES:
            for goal in re.findall(r"\bmake ([a-z][a-z0-9_-]*)(?![a-z0-9_-])", " ".join(re.findall(r"`[^`]+`|^    .*$", page.read_text(), re.M))):
                self.assertIn(goal, known, page.name)

    def test_commands_that_pages_show_exist_with_their_options(self):
        helps = {}
        for page in PAGES:
            text = page.read_text()
            shown = code(text) + re.findall(r"`(fathom [^`\n]+)`", text) + re.findall(r"^fathom .*$", text, re.M)
            for command, arguments in re.findall(r"\bfathom ([a-z][a-z-]*)(?= |$)([^|;&\n]*)", "\n".join(shown), re.M):
                if command not in helps:
                    done = run(f"fathom {command} --help")
                    self.assertEqual(done.returncode, 0, f"{page.name}: fathom {command}")
                    helps[command] = done.stdout
                for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", re.split(r" -- | # ", arguments)[0]):
                    self.assertIn(option, helps[command] + "--help", f"{page.name}: fathom {command} {option}")

    def test_every_command_of_the_table_exists_and_none_is_missing(self):
        shown = set(re.findall(r"^\| `fathom ([\w-]+)` \|", README, re.M))
        reports = set(re.findall(r"^## (\S+)$", run("fathom reference").stdout, re.M))
        self.assertEqual(shown, reports | {"baseline", "bench", "check", "compare", "diagnose", "whatif", "explain", "verify", "view"})

    def test_links_lead_to_files_and_headings(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)#]*)(?:#[^)]*)?\)", page.read_text()):
                if target and "://" not in target:
                    self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")

    def test_links_into_other_pages_name_headings_there(self):
        for page in PAGES:
            for target, anchor in re.findall(r"\]\(([^)#:]+)#([^)]+)\)", page.read_text()):
                headings = re.findall(r"^#+ (.+)$", (page.parent / target).read_text(), re.M)
                anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
                self.assertIn(anchor, anchors, f"{page.name}: {target}")


if __name__ == "__main__":
    unittest.main()
