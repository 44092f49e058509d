"""docs/diagnosis.md names rules that exist for what others recommend, or why there is none."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))


def rules() -> set[str]:
    """As the program lists them."""
    done = subprocess.run([FATHOM, "explain"], capture_output=True, text=True, timeout=60, check=True)
    return set(re.findall(r"^  ([a-z0-9]+(?:-[a-z0-9]+)*) {2,}\S", done.stdout, re.M))


def rows() -> list[list[str]]:
    """Cells of the tables under the heading."""
    page = (ROOT / "docs/diagnosis.md").read_text()
    part = page.split("\n## What others recommend\n")[1].split("\n## ")[0]
    cells = [line.strip("|").split(" | ") for line in part.splitlines() if line.startswith("| ") and " | " in line]
    return [row for row in cells if row[0].strip() != "named there"]


class Catalogue(unittest.TestCase):
    def test_every_rule_that_it_names_exists(self):
        known = rules()
        self.assertIn("host-bound", known)
        for row in rows():
            for name in re.findall(r"`([^`]+)`", row[1]):
                self.assertIn(name, known, row[0])

    def test_what_no_rule_covers_has_a_reason(self):
        self.assertGreater(len(rows()), 80)
        for row in rows():
            if not re.search(r"`[^`]+`", row[1]):
                self.assertEqual(row[1].strip(), "–", row[0])
                self.assertTrue(row[2].strip(" |"), row[0])


if __name__ == "__main__":
    unittest.main()
