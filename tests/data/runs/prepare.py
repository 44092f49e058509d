"""Makes a recorded session folder fit to be kept: traces are compressed, what was only carried along goes, and names of
the machine are replaced by others of the same length.

    prepare.py FOLDER OLD=NEW...
"""
import gzip
import json
import pathlib
import shutil
import struct
import sys
import zlib

HEADER = struct.Struct("<4sIIHHQ")


def renamed(data: bytes, names: dict[bytes, bytes]) -> bytes:
    for old, new in names.items():
        assert len(old) == len(new), (old, new)
        data = data.replace(old, new)
    return data


def capture(data: bytes, names: dict[bytes, bytes]) -> bytes:
    """The same blocks, with new sums."""
    out, at = bytearray(renamed(data, names)), 8
    while at < len(out):
        size = HEADER.unpack_from(out, at)[1]
        end = at + HEADER.size + size
        struct.pack_into("<I", out, at + 8, zlib.crc32(out[at + 12 : end]))
        at = end
    return bytes(out)


def main(folder: pathlib.Path, names: dict[bytes, bytes]) -> None:
    for carried in ("hook", "lib"):
        shutil.rmtree(folder / carried, ignore_errors=True)
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        if path.suffix == ".fathom":
            path.write_bytes(capture(data, names))
        elif path.name.endswith(".pt.trace.json"):
            trace = json.loads(renamed(data, names))
            trace.pop("host_name", None)
            trace["traceName"] = "trace.json"
            path.with_name(path.name + ".gz").write_bytes(gzip.compress(json.dumps(trace).encode(), mtime=0))
            path.unlink()
        elif path.suffix == ".json":
            said = json.loads(renamed(data, names))
            if path.name == "manifest.json":
                said["directory"] = "/home/user/train"
                said["fathom"] = said["fathom"].split()[0]
                for private in ("name", "kernel", "cgroup", "load", "load_at_end"):
                    said["host"].pop(private, None)
            path.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), dict(tuple(pair.encode().split(b"=")) for pair in sys.argv[2:]))
