"""The language of pages, sources and output keeps the limits of tools/check_words, and the checker finds what it is for."""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
CHECKER = ROOT / "tools/check_words"


def checker():
    loader = importlib.machinery.SourceFileLoader("check_words", str(CHECKER))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_words", loader))
    loader.exec_module(module)
    return module


class Words(unittest.TestCase):
    def problems(self, page: str, name: str = "page.md") -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            module = checker()
            module.ROOT = pathlib.Path(folder)
            (module.ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            (module.ROOT / name).write_text(page)
            return module.long_ones(name) + [place for places in module.occurrences([name]).values() for place in places]

    def test_the_repository_keeps_the_limits(self):
        done = subprocess.run([str(CHECKER)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_sentence_of_forty_one_words_is_found_and_one_of_forty_is_not(self):
        self.assertEqual(len(self.problems("word " * 40 + "word.\n")), 1)
        self.assertEqual(self.problems("word " * 39 + "word.\n"), [])

    def test_a_paragraph_of_more_than_120_words_is_found(self):
        self.assertEqual(len(self.problems("A sentence with six words here. " * 21)), 1)
        self.assertEqual(self.problems("A sentence with six words here. " * 19), [])

    def test_items_of_a_list_are_paragraphs_and_code_is_none(self):
        self.assertEqual(self.problems("- a short item\n" * 60), [])
        self.assertEqual(self.problems("    " + "code " * 50 + "\n\n```\n" + "| code " * 50 + "\n| " + "code " * 50 + "|\n```\n"), [])

    def test_a_cell_of_a_table_has_sentences_of_forty_words_and_sixty_words(self):
        table = "| name | text |\n|---|---|\n| `a` | {} |\n"
        for around in ("{}", "<!-- made: it -->\n{}<!-- end: it -->\n"):
            for cell, found in (("word " * 41, 1), ("word " * 40, 0), ("Of ten words is this a sentence in a cell. " * 7, 1),
                                ("Of ten words is this a sentence in a cell. " * 6, 0), ("word " * 25 + "| " + "word " * 25, 0),
                                ("`" + "code " * 50 + r"\| a`", 0)):
                self.assertEqual(len(self.problems(around.format(table.format(cell)))), found, cell)

    def test_a_word_of_the_list_is_found_across_the_lines_of_a_comment_or_a_text(self):
        self.assertEqual(len(self.problems("// What was recorded is not\n// told here.\n", "src/room/file.cc")), 1)
        self.assertEqual(len(self.problems('// A file.\nauto text = "the cause is "\n            "not told";\n', "src/room/file.cc")), 1)

    def test_what_the_page_shows_is_read_in_strings_and_in_text_of_jsx(self):
        for shown in ("const why = 'the cause is not T-O-L-D';\n",
                      "const why =\n  'the cause is ' +\n  'not T-O-L-D';\n",
                      "const why = `${count} causes are ` + `not T-O-L-D`;\n",
                      "return <p class=\"note\">The cause is\n  not T-O-L-D.</p>;\n",
                      "return <p>The cause is{' '}\n  <b>not</b> T-O-L-D.</p>;\n"):
            text = shown.replace("T-O-L-D", "to" + "ld")  # or this file would be found
            self.assertEqual(len(self.problems(text, "ui/src/views/x/view.tsx")), 1, shown)
        self.assertEqual(self.problems("return <p>The cause is not known.</p>;\n", "ui/src/views/x/view.tsx"), [])

    def test_a_source_begins_with_a_comment(self):
        self.assertEqual(len(self.problems('#include "room/file.h"\n', "src/room/file.cc")), 1)
        self.assertEqual(self.problems("// Reads a file.\n", "src/room/file.cc"), [])


if __name__ == "__main__":
    unittest.main()
