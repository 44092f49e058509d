// Which phase of training each host slice belongs to.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/nesting.h"
#include "store/column.h"
#include "store/trace.h"

namespace fathom {

enum class Phase : std::uint8_t { other, forward, backward, optimizer, data, communication };
inline constexpr std::size_t kPhases = static_cast<std::size_t>(Phase::communication) + 1;
std::string_view to_string(Phase phase);

/// Per slice; meaningful for host work. A slice has the phase that its name or metadata tells, else
/// that of the slice around it; see phase_of_name() for the names. Beyond names:
///  - an operator with a forward thread beside its sequence number is backward, one without is
///  forward;
///  - roots on a thread that only runs the autograd engine are backward;
///  - what runs inside an nn.Module frame and has no other phase is forward.
struct Phases {
  Column<Phase> of;
  [[nodiscard]] Phase operator[](SliceId slice) const { return of[slice.row()]; }
};

Phases compute_phases(const Trace& trace, const Nesting& nesting);

/// The phase that the name of an operator or annotation tells, or other: Optimizer.step#…,
/// enumerate(DataLoader)#…, autograd::engine::evaluate_function: …, c10d::…, nccl:…, and
/// annotations that people and frameworks call forward, backward, dataloader, optimizer_step.
Phase phase_of_name(std::string_view name, SliceKind kind);

/// True for frames of modules ("nn.Module: Linear_0").
bool is_module_frame(std::string_view name);

}  // namespace fathom
