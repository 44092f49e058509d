"""docs/view.md names every address of the page's server, and every option that it takes."""
import re
import unittest

import viewer

SERVER = viewer.ROOT / "src/server"


def routes():
    """Path and source of each route that all.cc names."""
    table = (SERVER / "all.cc").read_text()
    names = re.search(r"static const Route table\[\] = \{(.*?)\};", table, re.S)[1]
    found = {}
    for name in re.findall(r"(\w+)\(\)", names):
        for source in (SERVER / "routes").glob("*.cc"):
            text = source.read_text()
            made = re.search(rf'^Route {name}\(\) {{\s*return {{\s*\.path = "([^"]*)"', text, re.M)
            if made:
                found[made[1]] = text
                break
        else:
            raise AssertionError(f"no file of routes/ makes {name}()")
    return found


def documented():
    """Rows of the table of addresses: what stands in code in the first column, the whole row."""
    text = (viewer.ROOT / "docs/view.md").read_text()
    section = text.partition("## What the page asks")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [(re.findall(r"`([^`]*)`", row.split("|")[1]), row) for row in rows]


def path_of(address):
    """`api/tiles/DIGEST?level=K` is api/tiles/: parts in capitals are filled in."""
    return re.sub(r"[A-Z]+$", "", address.partition("?")[0])


class Addresses(unittest.TestCase):

    def test_each_is_in_the_table_and_nothing_else_is(self):
        told = {path_of(address) for addresses, _ in documented() for address in addresses if not address.startswith("?")}
        rows = [row.split("|")[1].strip() for _, row in documented()]
        if any(row.startswith("empty,") for row in rows):
            told.add("")
        self.assertEqual(told, set(routes()))
        self.assertGreater(len(told), 15)

    def test_options_that_a_route_reads_are_in_its_row(self):
        read = 0
        for path, source in routes().items():
            row = next((row for addresses, row in documented() if any(path_of(one) == path for one in addresses)), "")
            options = set(re.findall(r'call\.(?:text|number)\("([\w-]+)"', source))
            if "stretch_of(call)" in source:
                options |= {"begin", "end"}
            for option in options - {"input"}:
                read += 1
                self.assertRegex(row, rf"[?&`]{option}[=&`]", f"{path} takes {option}")
        self.assertGreater(read, 15)


if __name__ == "__main__":
    unittest.main()
