"""tools/measured_part: the pages that tools write into have the marks, and nothing but what lies between is replaced."""
import importlib.util
import os
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
SPEC = importlib.util.spec_from_file_location("measured_part", ROOT / "tools/measured_part.py")
measured_part = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(measured_part)


class MeasuredPart(unittest.TestCase):
    def test_pages_that_tools_write_have_the_marks(self):
        pages = set()
        for tool in (ROOT / "tools").glob("measure_*.py"):
            text = tool.read_text()
            if "measured_part." in text and "MARKS" not in text:
                pages.update(re.findall(r"--write (docs/\w+\.md)", text))
        self.assertIn("docs/sampling.md", pages)
        for page in sorted(pages):
            names = re.findall(r"<!-- (measured[^:]*): begin -->", (ROOT / page).read_text())
            self.assertTrue(names, page)
            for name in names:
                with self.subTest(page=page, name=name):
                    measured_part.parts(ROOT / page, (f"<!-- {name}: begin -->", f"<!-- {name}: end -->"))

    def test_only_what_lies_between_is_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text("before\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nbehind\n")
            for _ in range(2):
                measured_part.write(page, "new\n")
                self.assertEqual(page.read_text(), "before\n<!-- measured: begin -->\n\nnew\n\n<!-- measured: end -->\n"
                                                   "behind\n")

    def test_a_page_without_marks_is_a_mistake_before_anything_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text("no marks\n")
            with self.assertRaisesRegex(SystemExit, "are missing"):
                measured_part.parts(page)

    def test_what_was_added_is_told_by_the_lowest_times_first(self):
        # One round of five was disturbed, another one while it ran without.
        pairs = [(10.0, 50.0), (11.0, 52.0), (10.0, 190.0), (60.0, 61.0), (12.0, 50.0)]
        self.assertEqual(measured_part.added(pairs), "40 (40; 38 to 41)")
        self.assertEqual(measured_part.added([(10.0, 9.6)]), "0 (0; 0 to 0)")


if __name__ == "__main__":
    unittest.main()
