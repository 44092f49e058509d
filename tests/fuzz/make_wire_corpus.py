"""Makes the seeds of tests/fuzz/corpus/fathom_wire from the session folder in tests/data/runs.

    make_wire_corpus.py

Whole files, files cut short, a damaged one, and the payloads of blocks alone: the target also reads its
input as the payload of a block.
"""
import pathlib
import struct

HERE = pathlib.Path(__file__).parent
RUN = HERE.parent / "data" / "runs" / "cpu_train"
CORPUS = HERE / "corpus" / "fathom_wire"


def record(kind: int, layout: str, *fields: object, text: bytes = b"") -> bytes:
    body = struct.pack("<" + layout, *fields) + text
    return struct.pack("<HH", kind, len(body)) + body


def every_kind() -> bytes:
    """One record of each kind, and one of none."""
    return b"".join(
        [
            record(1, "I", 1, text=b"name"),
            record(2, "qqI", 1000, 1_700_000_000_000_000_000, 50),
            record(3, "qiiiII", 1000, 7, 1, 0, 1, 1),
            record(4, "iqI", 7, 7, 1),
            record(5, "qqiqIIq", 1000, 50, 7, 7, 1, 1, 3),
            record(6, "qiqII", 1010, 7, 7, 1, 1),
            record(7, "qiq", 1020, 7, 7),
            record(8, "qiqII", 1030, 7, 7, 1, 1),
            record(9, "IiiII", 1, 0, -1, 1, 1),
            record(10, "qId", 1040, 1, 1.5),
            record(11, "iII", 7, 1, 1),
            record(12, "qiiqqqqqq", 1050, 7, 9, 1, 2, 3, 4, 5, 6),
            record(13, "IQ", 1, 12),
            record(14, "iIIIQqq", 7, 1, 3, 1, 2, 9, 4),
            record(99, "I", 1),
        ]
    )


def main() -> None:
    CORPUS.mkdir(parents=True, exist_ok=True)
    own = next(RUN.glob("process-*.fathom")).read_bytes()
    monitor = (RUN / "monitor.fathom").read_bytes()
    seeds = {
        "process": own,
        "process_cut": own[: len(own) * 2 // 3],
        "process_damaged": own[:300] + b"?" + own[301:] + own[8:],
        "process_payload": own[8 + 24 :],
        "monitor_payload": monitor[8 + 24 :][:1500],
        "every_kind_payload": every_kind(),
        "magic": own[:8],
    }
    for name, seed in seeds.items():
        (CORPUS / name).write_bytes(seed)


if __name__ == "__main__":
    main()
