// The ladder: what is recorded when not all of it is allowed, and what would allow the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/cuda/cupti.h"

namespace fathom::cuda {

enum class GraphLevel : std::uint8_t { any, wholes, nodes };

/// A kind of records that is asked of CUPTI.
struct Wanted {
  CUpti_ActivityKind kind;
  std::string_view what;                ///< For people.
  bool device = false;                  ///< Activity of the device itself: kernels and copies.
  GraphLevel graphs = GraphLevel::any;  ///< Asked for only with graphs recorded so.
  std::uint32_t since = 0;              ///< Of which version of CUPTI on.

  [[nodiscard]] bool asked(bool graph_nodes, std::uint32_t version) const;
};
/// Devices, contexts and streams, of which there is one record each, and names.
std::span<const Wanted> things();
/// In the order in which they are asked for. With `graph_nodes` each node of a CUDA graph is
/// recorded, else each graph as a whole.
std::span<const Wanted> wanted();

/// How much is recorded, from all to little.
enum class FallbackLevel { full, partial, events, telemetry };
/// "full activity", "activity without what was refused", "CUDA events", "telemetry of the GPU".
std::string_view to_string(FallbackLevel level);

/// What is not recorded, why, and the remedy that asks for the least rights.
struct Loss {
  std::string what;
  std::string why;
  std::string remedy;
};

/// What is lost where CUPTI answers so; `said` is its own word for that.
Loss loss_of(std::string_view what, CUptiResult result, std::string_view said);

/// What a libcupti of that version loses of a recording that went on for so long; nothing mostly.
std::optional<Loss> loss_of_length(std::uint32_t version, std::int64_t recorded_ns);

/// What a libcupti of that version, which FATHOM_CUPTI names, loses with a driver that runs CUDA up
/// to that major version; nothing where they are of one, or the driver's is not known (0).
std::optional<Loss> loss_of_major(std::uint32_t version, int driver_major);

/// Of a refusal for which CUPTI has no reason: that this libcupti is newer than the driver, where
/// it is.
void explain_newer(std::uint32_t version, int driver_major, Loss& loss);

/// Whether that folder of devices, "/dev", has an NVIDIA GPU's file: of a machine, WSL or a Jetson.
bool shows_gpu(const char* devices);

/// Of a CUPTI that does not start: that there is no GPU it could start with.
void explain_absent(Loss& loss);

/// "leave FATHOM_CUPTI unset, or name …": the remedy where the file that it names is not taken.
std::string remedy_of_named(int driver_major);

/// By what was asked for, and what was answered to each.
FallbackLevel level_of(std::span<const CUptiResult> answers);

}  // namespace fathom::cuda
