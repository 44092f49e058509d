"""Columns leave as they lie in memory: the addresses are equal."""

from __future__ import annotations

import ctypes
import gc

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest

import fathom


def address(table: fathom.Table, column: str) -> int:
    """Where the column lies, by the buffer protocol."""
    view = memoryview(table[column])  # type: ignore[arg-type]
    return int(numpy.frombuffer(view, dtype=view.format).ctypes.data)


@pytest.fixture
def table(session: fathom.Session) -> fathom.Table:
    return session.report("ops", columns="all")


def test_numpy_takes_integers_without_a_copy(table: fathom.Table) -> None:
    array = numpy.asarray(table["device_self_ns"])
    assert array.dtype == numpy.int64
    assert array.ctypes.data == address(table, "device_self_ns")
    assert array.tolist() == table["device_self_ns"].to_list()


def test_asking_a_column_itself_gives_the_same_array(table: fathom.Table) -> None:
    array = table["device_self_ns"].__array__()
    assert array.dtype == numpy.int64
    assert array.ctypes.data == address(table, "device_self_ns")


def test_the_memory_is_read_only(table: fathom.Table) -> None:
    array = numpy.asarray(table["device_self_ns"])
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    assert memoryview(table["device_self_ns"]).readonly  # type: ignore[arg-type]
    with pytest.raises((BufferError, TypeError)):
        (ctypes.c_char * 8).from_buffer(table["device_self_ns"])  # type: ignore[arg-type]


def test_dlpack_is_the_same_memory(table: fathom.Table) -> None:
    array = numpy.from_dlpack(table["device_self_ns"])
    assert array.ctypes.data == address(table, "device_self_ns")
    assert not array.flags.writeable


def test_arrow_is_the_same_memory(table: fathom.Table) -> None:
    arrow = pyarrow.table(table)
    buffers = arrow.column("device_self_ns").chunk(0).buffers()
    assert buffers[1].address == address(table, "device_self_ns")
    assert arrow.to_pylist() == table.rows()
    assert pyarrow.record_batch(table).num_rows == len(table)


def test_a_column_is_an_arrow_array(table: fathom.Table) -> None:
    array = pyarrow.array(table["device_self_ns"])
    assert array.buffers()[1].address == address(table, "device_self_ns")
    assert pyarrow.array(table["name"]).to_pylist() == table["name"].to_list()


def test_arrow_s_schema_carries_what_the_report_declares(table: fathom.Table) -> None:
    field = pyarrow.schema(table).field("device_self_ns")
    assert field.type == pyarrow.int64()
    assert field.metadata[b"unit"] == b"ns"
    assert field.metadata[b"kind"] == b"duration_ns"
    assert field.metadata[b"doc"]


def test_polars_takes_it_without_a_copy(table: fathom.Table) -> None:
    frame = polars.DataFrame(table)
    assert frame.to_dicts() == table.rows()
    series = frame["device_self_ns"].to_numpy(allow_copy=False)
    assert series.ctypes.data == address(table, "device_self_ns")


def test_pandas_takes_it(table: fathom.Table) -> None:
    frame = pandas.DataFrame.from_arrow(table)
    assert frame["device_self_ns"].tolist() == table["device_self_ns"].to_list()
    assert frame["name"].tolist() == table["name"].to_list()
    column = pandas.Series(numpy.asarray(table["device_self_ns"]), copy=False)
    assert column.to_numpy().ctypes.data == address(table, "device_self_ns")


def test_duckdb_queries_it(table: fathom.Table) -> None:
    query = "select sum(device_self_ns), count(*) from table_of_ops"
    table_of_ops = table
    assert table_of_ops is table
    found = duckdb.sql(query).fetchall()
    assert found == [(sum(table["device_self_ns"].to_list()), len(table))]


def test_missing_values_are_never_zeros(session: fathom.Session) -> None:
    table = session.report("ops", columns="all")
    with_nulls = [c.name for c in table.columns if 0 < table[c.name].null_count]
    numbers = [n for n in with_nulls if table[n].kind in ("integer", "count", "bytes")]
    assert numbers
    for name in numbers:
        column = table[name]
        with pytest.raises(BufferError):
            memoryview(column)  # type: ignore[arg-type]
        array = numpy.asarray(column)
        assert numpy.isnan(array).sum() == column.null_count
        assert pyarrow.array(column).null_count == column.null_count
        with pytest.raises(ValueError):
            numpy.asarray(column, copy=False)


def test_real_numbers_flags_and_text(session: fathom.Session) -> None:
    table = session.report("ops", columns="all")
    assert numpy.asarray(table["host_total_percent"]).dtype == numpy.float64
    assert numpy.asarray(table["asynchronous"]).dtype == bool
    assert numpy.asarray(table["name"]).tolist() == table["name"].to_list()
    with pytest.raises(BufferError, match="text"):
        memoryview(table["name"])  # type: ignore[arg-type]


def test_what_was_taken_outlives_table_and_session(trace: str) -> None:
    session = fathom.open(trace)
    table = session.report("ops")
    expected = table["device_self_ns"].to_list()
    array = numpy.asarray(table["device_self_ns"])
    arrow = pyarrow.table(table)
    column = table["name"]
    names = table["name"].to_list()
    view = memoryview(table["device_self_ns"])  # type: ignore[arg-type]
    del session
    gc.collect()
    assert table["device_self_ns"].to_list() == expected
    del table
    gc.collect()
    assert array.tolist() == expected
    assert view.tolist() == expected
    assert arrow.column("device_self_ns").to_pylist() == expected
    assert column.to_list() == names


def test_an_empty_table_has_its_columns(session: fathom.Session) -> None:
    table = session.report("ops", filter="name=nothing")
    assert len(table) == 0
    assert pyarrow.table(table).num_rows == 0
    assert polars.DataFrame(table).height == 0
    assert numpy.asarray(table["device_self_ns"]).shape == (0,)


def test_a_stream_may_be_taken_again_and_dropped_unread(table: fathom.Table) -> None:
    for _ in range(3):
        assert pyarrow.table(table).num_rows == len(table)
    capsules = [
        table.__arrow_c_stream__(),
        table.__arrow_c_array__(),
        table.__arrow_c_schema__(),
        table["name"].__arrow_c_array__(),
    ]
    del capsules
    gc.collect()
