// All parts of a trace, in one list: what is written of it and read again.
#pragma once

#include <type_traits>

#include "store/trace.h"

namespace fathom {

/// Visits every array of a trace, columns and vectors alike, always in the same order; `Tables` is
/// Trace or const Trace. Not the texts, and not what each_detail() visits.
template <typename Tables, typename Visit>
void each_array(Tables& trace, const Visit& visit) {
  const auto columns = [&visit](auto& table) {
    std::remove_cvref_t<decltype(table)>::each([&visit](auto& column) { visit(column); }, table);
  };
  SliceTables::each_table(columns, trace);
  columns(trace.flows);
  columns(trace.memory);
  columns(trace.samples);
  columns(trace.instants);
  visit(trace.collectives);
  visit(trace.tracks);
  visit(trace.processes);
  visit(trace.categories);
  visit(trace.signatures);
  visit(trace.launch_configs);
  visit(trace.timed);
  visit(trace.numbers);
  visit(trace.slice_arguments);
  visit(trace.instant_arguments);
  visit(trace.process_runs);
  visit(trace.functions);
  visit(trace.function_calls);
  visit(trace.lines);
  visit(trace.function_parts);
  visit(trace.line_parts);
  visit(trace.sources);
  visit(trace.stack_frames);
  visit(trace.stack_samples);
}

/// Visits every field of the few things that hold texts of their own, so that one description
/// serves writing and reading. `visit` takes strings and trivially copyable values; `list` takes a
/// vector or an optional, and what visits one of its elements.
template <typename Tables, typename Visit, typename List>
void each_detail(Tables& trace, const Visit& visit, const List& list) {
  list(trace.devices, [&visit](auto& device) {
    auto& [id, name, memory, major, minor, sms, sm_threads, block_threads, sm_registers,
           block_registers, sm_shared, block_shared, optin_shared, warp] = device;
    visit(id), visit(name), visit(memory), visit(major), visit(minor), visit(sms);
    visit(sm_threads), visit(block_threads), visit(sm_registers), visit(block_registers);
    visit(sm_shared), visit(block_shared), visit(optin_shared), visit(warp);
  });
  list(trace.distributed, [&visit](auto& distributed) {
    auto& [backend, rank, world_size] = distributed;
    visit(backend), visit(rank), visit(world_size);
  });
  list(trace.facts, [&visit](auto& fact) {
    auto& [key, value] = fact;
    visit(key), visit(value);
  });
  visit(trace.format);
  visit(trace.origin_ns);
  visit(trace.origin_is_unix);
  visit(trace.bytes_read);
  visit(trace.span);
}

}  // namespace fathom
