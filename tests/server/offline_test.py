"""The page's server is asked, and asks nobody."""
import sys
import unittest

import viewer

sys.path.insert(0, str(viewer.ROOT / "tests/support"))
import no_network

FILTERED = no_network.front("server")


@unittest.skipUnless(FILTERED, "system calls cannot be filtered here (seccomp)")
class Offline(unittest.TestCase):
    def test_it_answers_and_makes_no_connection(self):
        server = viewer.Viewer(viewer.ROOT / "examples/resnet50_v100.pt.trace.json.gz", front=FILTERED)
        try:
            self.assertEqual(server.get("")[0], 200)
            self.assertTrue(server.ask("api/reports"))
            self.assertIn("verdict", server.ask("api/diagnosis"))
        finally:
            code = server.end()
        self.assertEqual(code, 0)


if __name__ == "__main__":
    unittest.main()
