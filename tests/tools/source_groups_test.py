"""tools/source_groups.py puts no files together of which one could see what the other keeps for itself."""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("FATHOM_SOURCE_DIR") or Path(__file__).resolve().parents[2])
sys.path.insert(0, str(ROOT / "tools"))

import source_groups  # noqa: E402


def source(body: str, local: str, namespace: str = "fathom") -> str:
    return f"namespace {namespace} {{\nnamespace {{\n\n{local}\n\n}}  // namespace\n\n{body}\n\n}}  // namespace {namespace}\n"


class SourceGroups(unittest.TestCase):
    def groups(self, *texts: str, files: int = 8, size: int | None = None) -> list[list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            paths = {}
            for number, text in enumerate(texts):
                path = Path(folder) / f"{number}.cc"
                path.write_text(text)
                paths[path] = ""
            return [[path.stem for path in group] for group in source_groups.grouped(paths, files, size)]

    def test_files_with_names_of_their_own_are_together(self):
        self.assertEqual(self.groups(source("", "int one() {\n  return 1;\n}"), source("", "int two();")), [["0", "1"]])

    def test_equal_names_are_apart(self):
        # The second name of the file stands behind the end of a function.
        first = source("", "int one() {\n  return 1;\n}\n\nint same = 1;")
        self.assertEqual(self.groups(first, source("", "int same() {\n  return 2;\n}")), [["0"], ["1"]])

    def test_a_name_that_another_file_uses_is_apart(self):
        uses = source("int three() {\n  return round(2.5);\n}", "int two = 2;")
        self.assertEqual(self.groups(source("", "int round(double) {\n  return 1;\n}"), uses), [["0"], ["1"]])
        self.assertEqual(self.groups(uses, source("", "int round(double) {\n  return 1;\n}")), [["0"], ["1"]])

    def test_members_qualified_names_texts_and_comments_use_nothing(self):
        own = source("", "int found(double) {\n  return 1;\n}")
        for use in ("a.found()", "a->found()", "std::found(2)", '"found"', "a  // found"):
            self.assertEqual(self.groups(own, source(f"auto x = {use};", "int two = 2;")), [["0", "1"]], use)
        for use in ("c == '\"' ? found(2) : \"\"", "a > found(2)", "a ? b : found(2)", "::std::find(found)"):
            self.assertEqual(self.groups(own, source(f"auto x = {use};", "int two = 2;")), [["0"], ["1"]], use)

    def test_a_namespace_of_its_own_keeps_equal_names_apart(self):
        first = source("", "int check() {\n  return 1;\n}", "fathom::zero_grad_rule")
        second = source("", "int check() {\n  return 2;\n}", "fathom::fp64_rule")
        self.assertEqual(self.groups(first, second), [["0", "1"]])
        inner = source("int x = check();", "int other = 1;", "fathom::zero_grad_rule::inner")
        self.assertEqual(self.groups(first, inner), [["0"], ["1"]])

    def test_macros_statics_aliases_and_mains_are_names_too(self):
        for text in ("#define same 1\n", "static int same() {\n  return 1;\n}\n", "namespace same = std::chrono;\n"):
            self.assertEqual(self.groups(text, source("int x = same;", "int two = 2;")), [["0"], ["1"]], text)
        self.assertEqual(self.groups("int main() {\n}\n", "int main() {\n}\n"), [["0"], ["1"]])

    def test_tests_of_one_suite_are_together_unless_they_have_one_name(self):
        first = source("", "TEST(Suite, Works) {\n}")
        self.assertEqual(self.groups(first, source("", "TEST(Suite, Fails) {\n}")), [["0", "1"]])
        self.assertEqual(self.groups(first, source("", "TEST(Suite, Works) {\n}")), [["0"], ["1"]])

    def test_groups_have_no_more_files_and_bytes_than_asked_for(self):
        texts = [source("", f"int name_{number} = 1;") for number in range(5)]
        self.assertEqual([len(group) for group in self.groups(*texts, files=2)], [2, 2, 1])
        self.assertEqual([len(group) for group in self.groups(*texts, size=len(texts[0]) * 3)], [3, 2])

    def test_other_flags_are_another_group(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = {Path(folder) / "a.cc": "-O1", Path(folder) / "b.cc": "-O2"}
            for path in paths:
                path.write_text("int x;\n")
            self.assertEqual(len(source_groups.grouped(paths, 8)), 2)


if __name__ == "__main__":
    unittest.main()
