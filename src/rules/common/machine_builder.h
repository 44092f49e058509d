// Telemetry beside a synthetic program, for the tests of rules about the machine.
#pragma once

#include <string>
#include <string_view>

#include "rules/common/program_builder.h"
#include "rules/common/rule_fixture.h"
#include "store/trace_builder.h"

namespace fathom {

/// Adds counters that stay as they are, or rise steadily, from 0 to `end` ns.
class MachineBuilder {
 public:
  MachineBuilder(TraceBuilder& trace, std::int64_t end) : trace_(trace), end_(end) {}

  MachineBuilder& level(std::string_view name, double value, int device = -1) {
    return line(name, value, value, device);
  }
  /// A total that rises so much a second.
  MachineBuilder& rate(std::string_view name, double per_second, int device = -1) {
    return line(name, 7, 7 + per_second * 1e-9 * static_cast<double>(end_), device);
  }
  /// A total that rises so much in all.
  MachineBuilder& rise(std::string_view name, double by) { return line(name, 3, 3 + by, -1); }
  MachineBuilder& line(std::string_view name, double first, double last, int device) {
    std::string series(name);
    if (device >= 0) series += " device " + std::to_string(device);
    trace_.on_thread(0, 0);  // the machine
    trace_.sample(series, 0, first);
    trace_.sample(series, end_, last);
    return *this;
  }

 private:
  TraceBuilder& trace_;
  std::int64_t end_;
};

/// A program of a second beside this machine, which is what `machine(builder)` adds.
template <typename Machine>
JudgedTrace judged_beside(const Machine& machine) {
  constexpr std::int64_t kEnd = 1'000'000'000;
  ProgramBuilder program(kEnd);
  program.op("aten::mm", "gemm", kEnd / 2);
  MachineBuilder builder(program.trace(), kEnd);
  machine(builder);
  return JudgedTrace(program.trace());
}

}  // namespace fathom
