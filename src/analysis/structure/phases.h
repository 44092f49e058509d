// Which phase of training each host slice belongs to.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/structure/nesting.h"
#include "store/column.h"
#include "store/trace.h"

namespace fathom {

enum class Phase : std::uint8_t { other, forward, backward, optimizer, data, communication };
inline constexpr std::size_t kPhases = static_cast<std::size_t>(Phase::communication) + 1;
std::string_view to_string(Phase phase);

/// What showed a phase.
enum class PhaseEvidence : std::uint8_t {
  annotations,  ///< Ranges: Optimizer.step#…, enumerate(DataLoader)#…, those that people make.
  operators,    ///< Names of operators, metadata of collectives.
  sequence_numbers,  ///< Of autograd.
  threads,           ///< That run nothing but the backward pass.
  frames,            ///< Of Python.
  call_order,        ///< Before the backward pass; inferred.
  updates,           ///< In place, after the backward pass; inferred.
};
inline constexpr std::size_t kPhaseEvidences = static_cast<std::size_t>(PhaseEvidence::updates) + 1;

/// Per slice; meaningful for host work. A slice has the phase that its name or metadata shows, else
/// that of the slice around it; see phase_of_name() for the names. Beyond names:
///  - an operator with a forward thread beside its sequence number is backward, one without is
///  forward;
///  - roots on a thread that only runs the autograd engine are backward;
///  - what has no other phase and runs inside a Python frame of an nn.Module is forward, of a data
///  loader data, of an optimizer's step optimizer, of backward() backward;
///  - what nothing of this shows, but the order of calls does: see infer_phases().
///  - what lies before a step's forward pass or after its backward pass: see mark_around_passes().
struct Phases {
  Column<Phase> of;
  std::array<std::uint64_t, kPhaseEvidences> evidence{};  ///< Host slices that each decided.
  /// A range of the program around the passes.
  struct Range {
    StringId name{};
    bool before = false;  ///< It comes before the forward pass of its step.
  };
  /// By name, at most kMostRanges of them; and per slice the place of the one around it, counted
  /// from 1; 0: none. Empty without such ranges.
  std::vector<Range> ranges;
  Column<std::uint8_t> range_of;
  [[nodiscard]] Phase operator[](SliceId slice) const { return of[slice.row()]; }
  /// The range around it, whatever its phase: its place in `ranges`, or kNoRange.
  [[nodiscard]] std::size_t range(SliceId slice) const {
    return range_of.empty() || range_of[slice.row()] == 0 ? kNoRange : range_of[slice.row()] - 1U;
  }
  static constexpr std::size_t kNoRange = SIZE_MAX;
  static constexpr std::size_t kMostRanges = 64;
};

Phases compute_phases(const Trace& trace, const Nesting& nesting);

/// The phase that the name of an operator or annotation shows, or other: Optimizer.step#…,
/// enumerate(DataLoader)#…, autograd::engine::evaluate_function: …, c10d::…, nccl:…, and
/// annotations that people and frameworks call forward, backward, dataloader, optimizer_step.
Phase phase_of_name(std::string_view name, SliceKind kind);

/// The phase that a Python frame shows by its name, or other.
Phase phase_of_frame(std::string_view name);

/// True for frames of modules ("nn.Module: Linear_0").
bool is_module_frame(std::string_view name);

}  // namespace fathom
