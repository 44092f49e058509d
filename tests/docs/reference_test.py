"""The made parts of the documentation are what the program prints now, and the prose leaves no check and no metric out."""
import json
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FATHOM = os.environ.get("FATHOM", str(ROOT / "build/release/fathom"))
EXAMPLE = "examples/resnet50_v100.pt.trace.json.gz"
MEMORY = "tests/data/traces/tl_h100_bert_small.json.gz"  # has allocator events, which the example lacks
METRICS = (ROOT / "docs/metrics.md").read_text()
PROSE = METRICS.split("## Every table and column")[0]


def rows(report: str, trace: str) -> list[dict]:
    done = subprocess.run([FATHOM, report, trace, "--json"], cwd=ROOT, capture_output=True, check=True, timeout=120)
    return json.loads(done.stdout)["rows"]


class Reference(unittest.TestCase):
    def test_made_parts_are_up_to_date(self):
        done = subprocess.run([str(ROOT / "tools/docs"), "--check"], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "FATHOM": FATHOM}, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_health_check_is_explained(self):
        for row in rows("health", EXAMPLE):
            self.assertIn(f"`{row['check']}`", PROSE)

    def test_every_metric_of_the_overview_is_explained(self):
        words = set(re.findall(r"\w+", PROSE))
        for row in rows("overview", EXAMPLE) + rows("overview", MEMORY):
            if row["section"].startswith("device"):
                self.assertLessEqual(set(re.findall(r"\w+", row["metric"])), words, row["metric"])

    def test_links_inside_the_page_lead_somewhere(self):
        headings = re.findall(r"^#+ (.+)$", METRICS, re.M)
        anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        for target in re.findall(r"\]\(#([^)]+)\)", METRICS):
            self.assertIn(target, anchors)


if __name__ == "__main__":
    unittest.main()
