"""Uses the whole surface with types, for mypy --strict to read; types_test.py runs it too."""

from __future__ import annotations

import sys

import fathom


@fathom.annotate("work")
def work(times: int) -> int:
    with fathom.annotate("inner") as named:
        return times + len(named.name)


@fathom.annotate("later")
async def later(text: str) -> str:
    return text


@fathom.lines
def asked(times: int) -> int:
    return times


def read(path: str) -> None:
    session: fathom.Session = fathom.open(path, threads=2)
    table: fathom.Table = session.report(
        "ops", steps=range(6, 8), sort="-host_self_ns", limit=3, filter=["calls>1"], columns="all"
    )
    column: fathom.Column = table["device_self_ns"]
    specs: list[fathom.ColumnSpec] = table.columns
    names: list[str] = [spec.name for spec in specs]
    diagnosis: fathom.Diagnosis = session.diagnose(focus="backward", steps=(6, 7))
    verdict: fathom.Verdict = diagnosis.verdict
    for finding in diagnosis.findings:
        gain: fathom.Estimate | None = finding.gain_ns
        if gain is not None:
            print(finding.title, gain.likely + 0, finding.evidence[0].location)
    for row in table:
        print(row["name"])
    print(verdict.id, names, column.to_list(), len(table), [r.id for r in fathom.reports()])
    sessions: list[fathom.Session] = fathom.open_all([path])
    print(len(sessions))


def measure() -> None:
    result: fathom.BenchResult = fathom.bench(lambda: work(3), against=lambda: work(4), runs=6)
    side: fathom.BenchSide = result.new
    metric: fathom.BenchMetric = result["wall"]
    p95: float | None = side.p95
    sweep: fathom.BenchSweep = fathom.bench(lambda n: work(n), sweep={"n": [1, 2]}, runs=3)
    print(metric.verdict, p95, side.median + 0, sweep.knee, result.values()[0][0] + 0)


def other_programs() -> None:
    check: fathom.Check = fathom.doctor()[0]
    ran: fathom.Recorded = fathom.run("true", options=["-q"])
    code: int | None = ran.exit_code
    print(check.section + check.state, code, ran.path.name)


def record(folder: str) -> None:
    plan: fathom.Schedule = fathom.schedule(wait=0, warmup=0, active=2)
    try:
        with fathom.profile(schedule=plan, shapes=True, output=folder) as p:
            for number in range(3):
                result: int = work(number)
                p.step()
                print(result)
        print(p.output, p.diagnose(exclude_warmup=False).verdict)
    except fathom.FathomError as error:
        code: str = error.code
        sys.exit(code)


if __name__ == "__main__":
    read(sys.argv[1])
    measure()
    record(sys.argv[2])
