"""fathom's numbers equal what other tools published, or the difference is listed and recomputed."""
import contextlib
import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import compare_peers  # noqa: E402
import raw  # noqa: E402


class Peers(unittest.TestCase):
    def test_every_comparable_cell_is_equal_or_explained(self):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = compare_peers.compare()
        self.assertEqual(code, 0, output.getvalue())
        self.assertIn("cells equal", output.getvalue())

    def test_every_exception_has_a_reason(self):
        for entry in compare_peers.Exceptions().entries:
            self.assertGreater(len(entry["reason"]), 20)
            self.assertIn(entry["explained_by"], {None, *compare_peers.explain.EXPLANATIONS})

    def test_a_wrong_number_is_found(self):
        exceptions = compare_peers.Exceptions()
        verdict, _ = compare_peers.judge(compare_peers.Cell("x/y/z/a/b", 10.0, 10.6, 0.5), exceptions)
        self.assertEqual(verdict, "wrong")
        verdict, _ = compare_peers.judge(compare_peers.Cell("x/y/z/a/b", 10.0, None), exceptions)
        self.assertEqual(verdict, "wrong")

    def test_unions_of_the_plain_script(self):
        self.assertEqual(raw.union([(5, 7), (0, 2), (1, 3)]), [(0, 3), (5, 7)])


if __name__ == "__main__":
    unittest.main()
