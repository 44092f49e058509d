#!/usr/bin/env python3
"""What is handed out, as people meet it: installed, removed, unpacked; its licences and its bill of materials."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["FATHOM_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["FATHOM"]).parent
TRACE = SOURCE / "examples" / "resnet50_v100.pt.trace.json.gz"
FILES = {
    "bin/fathom",
    "share/man/man1/fathom.1",
    "share/bash-completion/completions/fathom",
    "share/zsh/site-functions/_fathom",
    "share/doc/fathom/THIRD-PARTY-NOTICES.txt",
    "share/doc/fathom/fathom.spdx.json",
}
# Pages, and what they show and name; `test_links_of_what_is_installed_lead_to_files` looks at what they lead to.
FILES |= {"share/doc/fathom/LICENSE", "share/doc/fathom/README.md", "share/doc/fathom/docs/img/tables.svg",
          *(f"share/doc/fathom/docs/{path.name}" for path in (SOURCE / "docs").iterdir() if path.suffix in (".md", ".json"))}
LINK = re.compile(r"\]\(([^)#\s]*)(?:#[^)\s]*)?\)")
# What others made to check bills of materials and package URLs, of tools/setup python.
PYTHON = SOURCE / "build" / "python" / "bin" / "python"
CHECKER = (PYTHON, "-m", "spdx_tools.spdx.clitools.pyspdxtools", "--infile")
PARSED = "import sys, packageurl; [print(packageurl.PackageURL.from_string(text).to_string()) for text in sys.argv[1:]]"
LINKED = {"simdjson", "isa-l", "zstd", "Boost.Beast", "libstdc++ and libgcc"}
IN_THE_PAGE = json.loads((SOURCE / "ui" / "package.json").read_text())["dependencies"]


def run(*words: object, **options) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def files_of(folder: pathlib.Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def has_the_checkers() -> bool:
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", "import spdx_tools, packageurl"], capture_output=True).returncode == 0


@unittest.skipUnless((BUILD / "product" / "fathom.1").exists(), "only the release build makes what is handed out")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.dist = cls.folder / "dist"
        run(SOURCE / "tools" / "dist", BUILD, cls.dist)
        (cls.tarball,) = cls.dist.glob("fathom-*.tar.gz")
        (cls.deb,) = cls.dist.glob("fathom_*.deb")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def works(self, program: pathlib.Path) -> None:
        elsewhere = {"cwd": self.folder, "env": {"PATH": "/usr/bin:/bin"}}
        self.assertRegex(run(program, "--version", **elsewhere), r"^fathom \d+\.\d+\.\d+")
        self.assertIn("Verdict", run(program, "diagnose", TRACE, **elsewhere))

    def is_named_by_its_sum(self, program: pathlib.Path, documents: pathlib.Path) -> None:
        """The bill of materials is of this very file."""
        ours = json.loads((documents / "fathom.spdx.json").read_text())["packages"][0]
        self.assertEqual(ours["checksums"],
                         [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(program.read_bytes()).hexdigest()}])
        self.assertEqual(ours["packageFileName"], program.name)

    def test_the_tarball_has_the_program_and_what_goes_with_it(self):
        with tarfile.open(self.tarball) as tar:
            members = tar.getmembers()
            tar.extractall(self.folder / "unpacked")
        (top,) = {member.name.split("/")[0] for member in members}
        self.assertEqual(f"{top}.tar.gz", self.tarball.name)
        self.assertRegex(top, r"^fathom-\d+\.\d+\.\d+-linux-(x86_64|aarch64)$")
        self.assertEqual({m.name.removeprefix(f"{top}/") for m in members if m.isfile()}, FILES)
        self.assertEqual({(m.uid, m.gid, m.uname, m.mtime) for m in members}, {(0, 0, "", members[0].mtime)})
        program = self.folder / "unpacked" / top / "bin" / "fathom"
        self.assertEqual(program.stat().st_mode & 0o777, 0o755)
        self.works(program)
        self.is_named_by_its_sum(program, self.folder / "unpacked" / top / "share" / "doc" / "fathom")
        run(SOURCE / "tools" / "check_binary", "--stripped", program)
        self.assertNotIn(".symtab", run("readelf", "--sections", "--wide", program))
        # Nothing tells where it was built.
        self.assertNotIn(str(SOURCE).encode(), program.read_bytes())
        self.assertLess(self.tarball.stat().st_size, 20_000_000)

    def test_links_of_what_is_installed_lead_to_files(self):
        """Those of README, of the pages, and what the manual page and the program name."""
        with tarfile.open(self.tarball) as tar:
            tar.extractall(self.folder / "linked")
        (top,) = (self.folder / "linked").iterdir()
        documents = top / "share" / "doc" / "fathom"
        followed = 0
        for page in (documents / "README.md", *(documents / "docs").glob("*.md")):
            for target in LINK.findall(page.read_text()):
                if target and "://" not in target:
                    self.assertTrue((page.parent / target).is_file(), f"{page.name}: {target}")
                    followed += 1
        self.assertGreater(followed, 100)
        # Of the repository's README only what is no page has lost its link, and not its name.
        ours, shipped = ((folder / "README.md").read_text() for folder in (SOURCE, documents))
        lost = set(LINK.findall(ours)) - set(LINK.findall(shipped))
        self.assertEqual({name for name in lost if name.startswith("docs/") or name == "LICENSE"}, set())
        self.assertIn("examples/train.py", lost)
        self.assertIn("examples/train.py", shipped)
        self.assertEqual(LINK.sub("", shipped).count("\n"), LINK.sub("", ours).count("\n"))
        named = set(re.findall(r"\bdocs/[a-z-]+\.(?:md|schema\.json)\b", run(os.environ["FATHOM"], "man").replace("\\-", "-")))
        named |= {name.decode() for name in re.findall(rb"\bdocs/[a-z-]+\.(?:md|schema\.json)\b", (top / "bin" / "fathom").read_bytes())}
        self.assertGreater(len(named), 8)
        for name in named:
            self.assertTrue((documents / name).is_file(), name)

    def test_sums_are_of_the_files(self):
        lines = (self.dist / "SHA256SUMS").read_text().splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            digest, name = line.split()
            self.assertEqual(hashlib.sha256((self.dist / name).read_bytes()).hexdigest(), digest)

    def test_the_same_build_gives_the_same_bytes(self):
        again = self.folder / "again"
        run(SOURCE / "tools" / "dist", BUILD, again, env={**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}, umask=0o077)
        self.assertEqual({path.name for path in again.iterdir()}, {path.name for path in self.dist.iterdir()})
        for path in self.dist.iterdir():
            self.assertEqual(path.read_bytes(), (again / path.name).read_bytes(), path.name)

    def test_manual_page_and_completion_are_this_programs(self):
        product = BUILD / "product"
        for name, words in (("fathom.1", ["man"]), ("fathom.bash", ["completion", "bash"]), ("_fathom", ["completion", "zsh"])):
            self.assertEqual((product / name).read_text(), run(os.environ["FATHOM"], *words))

    def test_the_bill_of_materials_names_what_is_linked(self):
        bill = json.loads((BUILD / "product" / "fathom.spdx.json").read_text())
        self.assertEqual((bill["spdxVersion"], bill["dataLicense"]), ("SPDX-2.3", "CC0-1.0"))
        packages = {package["SPDXID"]: package for package in bill["packages"]}
        self.assertEqual(len(packages), len(bill["packages"]))
        names = {package["name"] for package in bill["packages"]}
        self.assertLessEqual(LINKED | {"fathom"}, names)
        versions = {package["name"]: package["versionInfo"] for package in bill["packages"]}
        self.assertEqual({name: versions.get(name) for name in IN_THE_PAGE}, IN_THE_PAGE)
        self.assertRegex(packages["SPDXRef-fathom"]["comment"], r"^(x86_64|aarch64)(; commit [0-9a-f]{40}(-dirty)?)?$")
        if (SOURCE / ".git").exists():
            self.assertIn("commit", packages["SPDXRef-fathom"]["comment"])
        for identifier, package in packages.items():
            if identifier == "SPDXRef-fathom":
                continue
            (reference,) = package["externalRefs"]
            self.assertRegex(reference["referenceLocator"],
                             r"^pkg:(deb/[a-z0-9._-]+/[^@]+@[^@?]+\?arch=source|(generic|npm|pypi|github/\w+)/[^@]+@v?\d[\w.]*)$")
        # dpkg knows the version of what comes as a package, and that version is written.
        if shutil.which("dpkg-query") and subprocess.run(["dpkg-query", "-W", "libboost-dev"], capture_output=True).returncode == 0:
            (boost,) = packages["SPDXRef-Boost.Beast"]["externalRefs"]
            self.assertRegex(boost["referenceLocator"], r"^pkg:deb/\w+/boost1\.\d+@1\.\d+\.\d+.*-\d")
        texts = (BUILD / "product" / "THIRD-PARTY-NOTICES.txt").read_text()
        for identifier, package in packages.items():
            self.assertRegex(identifier, r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertRegex(package["versionInfo"], r"^\d")
            if package["name"] != "fathom":
                self.assertIn(f"\n{package['name']} {package['versionInfo']}\n", texts)
        ends = {end for relation in bill["relationships"] for end in (relation["spdxElementId"], relation["relatedSpdxElement"])}
        self.assertEqual(ends, set(packages) | {"SPDXRef-DOCUMENT"})
        # What the linker was given is in it.
        command = run("ninja", "-C", BUILD, "-t", "commands", "fathom").splitlines()[-1]
        archives = {pathlib.Path(word).name for word in command.split() if word.endswith(".a")}
        ours = {name for name in archives if name.startswith("libfathom_")}
        self.assertEqual(archives - ours, {"libsimdjson.a", "isa-l.a", "libzstd.a"})

    @unittest.skipUnless(has_the_checkers(), "no checker of SPDX and package URLs: tools/setup python")
    def test_the_bill_of_materials_is_what_others_take_for_one(self):
        path = self.folder / "checked.spdx.json"
        with tarfile.open(self.tarball) as tar:
            (member,) = [name for name in tar.getnames() if name.endswith("/fathom.spdx.json")]
            path.write_bytes(tar.extractfile(member).read())
        run(*CHECKER, path)
        bill = json.loads(path.read_text())
        places = [reference["referenceLocator"] for package in bill["packages"] for reference in package.get("externalRefs", [])]
        self.assertEqual(run(PYTHON, "-c", PARSED, *places).split(), places)
        # The checker does look.
        del bill["packages"][0]["downloadLocation"]
        path.write_text(json.dumps(bill))
        with self.assertRaises(AssertionError):
            run(*CHECKER, path)

    @unittest.skipUnless(shutil.which("dpkg"), "no dpkg here")
    def test_the_package_is_installed_and_removed(self):
        fields = run("dpkg-deb", "--field", self.deb)
        cache = (BUILD / "CMakeCache.txt").read_text()
        oldest = re.search(r"^FATHOM_OLDEST_GLIBC:STRING=(2\.\d+)$", cache, re.MULTILINE)[1]
        self.assertIn(f"\nDepends: libc6 (>= {oldest})\n", fields)
        # The program asks for no newer one.
        run(SOURCE / "tools" / "check_binary", "--stripped", "--max-glibc", oldest, BUILD / "fathom")
        self.assertRegex(fields, r"(?m)^Architecture: (amd64|arm64)$")
        if os.geteuid() != 0:
            self.skipTest("dpkg installs for root only")
        root = self.folder / "root"
        (root / "var/lib/dpkg/updates").mkdir(parents=True)
        (root / "var/lib/dpkg/info").mkdir()
        (root / "var/lib/dpkg/status").touch()
        dpkg = ("dpkg", f"--root={root}", "--force-depends", "--force-not-root", "--log=/dev/null")
        run(*dpkg, "--install", self.deb)
        installed = {name for name in files_of(root / "usr")}
        self.assertEqual(installed, FILES)
        self.works(root / "usr" / "bin" / "fathom")
        self.is_named_by_its_sum(root / "usr" / "bin" / "fathom", root / "usr" / "share" / "doc" / "fathom")
        self.assertIn("Status: install ok installed", run(*dpkg, "--status", "fathom"))
        run(*dpkg, "--remove", "fathom")
        self.assertFalse((root / "usr").exists() and files_of(root / "usr"))

    def test_what_is_installed_is_removed_and_nothing_else(self):
        prefix = self.folder.resolve() / "prefix"
        other = prefix / "bin" / "other"
        other.parent.mkdir(parents=True)
        other.write_text("of somebody else")
        run("cmake", "--install", BUILD, "--component", "program", "--strip", "--prefix", prefix)
        self.assertEqual(files_of(prefix), FILES | {"bin/other"})
        self.works(prefix / "bin" / "fathom")
        self.is_named_by_its_sum(prefix / "bin" / "fathom", prefix / "share" / "doc" / "fathom")
        listed = BUILD / "install_manifest_program.txt"
        (prefix / "share" / "fathom").mkdir()
        # A list that somebody wrote to does no harm elsewhere.
        (prefix / "share" / "fathom" / "installed").write_text(listed.read_text() + "\n/etc/hostname\n")
        run(SOURCE / "tools" / "uninstall", prefix)
        self.assertEqual(files_of(prefix), {"bin/other"})
        self.assertEqual({path.name for path in prefix.iterdir()}, {"bin"})
        self.assertTrue(pathlib.Path("/etc/hostname").exists())
        done = subprocess.run([SOURCE / "tools" / "uninstall", prefix], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("did not put Fathom there", done.stderr)


class OtherLibraries(unittest.TestCase):
    def test_a_compiler_for_musl_is_refused_with_a_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            compiler = pathlib.Path(folder) / "c++"
            compiler.write_text("#!/bin/sh\necho '#define __linux__ 1'\n")
            compiler.chmod(0o755)
            done = subprocess.run(["cmake", f"-DCMAKE_CXX_COMPILER={compiler}", f"-DPROJECT_SOURCE_DIR={SOURCE}", "-P",
                                   SOURCE / "cmake" / "glibc.cmake"], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("needs Linux with glibc", " ".join(done.stderr.split()))
        self.assertIn("musl", done.stderr)

    def test_wheels_on_a_newer_glibc_are_refused_before_anything_is_compiled(self):
        for macros, says in (("#define __GLIBC_MINOR__ 39", "glibc 2.39"), ("#define __linux__ 1", "no programs for glibc")):
            with self.subTest(says), tempfile.TemporaryDirectory() as folder:
                compiler = pathlib.Path(folder) / "c++"
                compiler.write_text(f"#!/bin/sh\necho '{macros}'\n")
                compiler.chmod(0o755)
                done = subprocess.run([SOURCE / "tools" / "wheels", f"{folder}/made", "/no/python"], capture_output=True, text=True,
                                      check=False, env={**os.environ, "CXX": str(compiler)})
                self.assertEqual(done.returncode, 1)
                self.assertIn(says, done.stderr)
                self.assertIn("Debian 12", done.stderr)

    def test_missing_interpreters_are_named_before_anything_is_compiled(self):
        """With how to get them; here there are none at all, or a fake one of 3.12."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            programs = folder / "programs"
            programs.mkdir()
            for program in ("bash", "dirname", "sed", "git", "uname", "mkdir", "stat"):
                (programs / program).symlink_to(shutil.which(program))
            compiler = programs / "c++"
            compiler.write_text(f"#!{shutil.which('bash')}\necho '#define __GLIBC_MINOR__ 36'\n")
            compiler.chmod(0o755)

            def wheels() -> subprocess.CompletedProcess[str]:
                return subprocess.run([SOURCE / "tools" / "wheels", folder / "made"], capture_output=True, text=True, check=False,
                                      env={"PATH": str(programs), "PYENV_ROOT": str(folder / "pyenv"), "HOME": str(folder)})

            done = wheels()
            self.assertEqual(done.returncode, 1)
            self.assertIn("0 of 3 wheels", done.stderr)
            self.assertIn("CPython 3.10 3.11 3.12 or later; `pyenv install 3.10 3.11 3.12`", done.stderr)
            python = folder / "pyenv" / "versions" / "3.12.1" / "bin" / "python"
            python.parent.mkdir(parents=True)
            python.write_text(f"#!{shutil.which('bash')}\n[ $1 != -m ] || exit 9\n[[ $* != *version_info* ]] || echo 3.12\n")
            python.chmod(0o755)
            done = wheels()
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, rf"1 of 3 wheels for \w+ can be made with the interpreters here: {re.escape(str(python))}\n")
            self.assertIn("CPython 3.10 3.11; `pyenv install 3.10 3.11`", done.stderr)
            self.assertNotIn("building", done.stderr)

    def test_what_needs_a_newer_glibc_is_packed_with_a_word(self):
        with tempfile.TemporaryDirectory() as folder:
            for version, words in (("2.39", "needs glibc 2.39 or newer"), ("2.28", "")):
                (pathlib.Path(folder) / "CMakeCache.txt").write_text(f"FATHOM_OLDEST_GLIBC:STRING={version}\n")
                (pathlib.Path(folder) / "CPackConfig.cmake").touch()
                done = subprocess.run([SOURCE / "tools" / "dist", folder, f"{folder}/made"], capture_output=True, text=True,
                                      check=False)
                self.assertIn(words, done.stderr)
                self.assertEqual("needs glibc" in done.stderr, bool(words))


if __name__ == "__main__":
    unittest.main()
