// Names of enumerators, and look-ups in a trace's small tables.
#include "store/trace.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, kSliceKinds> kSliceKindNames = {"cpu_op",
                                                                       "user_annotation",
                                                                       "runtime",
                                                                       "driver",
                                                                       "kernel",
                                                                       "memcpy",
                                                                       "memset",
                                                                       "sync",
                                                                       "gpu_user_annotation",
                                                                       "python_function",
                                                                       "overhead",
                                                                       "trace_span",
                                                                       "profiler_range",
                                                                       "other"};
static_assert(kSliceKindNames.back() == "other", "one name for each SliceKind, in its order");

constexpr std::array<std::string_view, 8> kCopyKindNames = {"unknown", "HtoD", "DtoH",  "DtoD",
                                                            "PtoP",    "HtoH", "array", "memset"};
static_assert(kCopyKindNames[static_cast<std::size_t>(CopyKind::memset)] == "memset");

constexpr std::array<std::string_view, 6> kMemoryKindNames = {"unknown", "pageable", "pinned",
                                                              "device",  "array",    "managed"};
static_assert(kMemoryKindNames[static_cast<std::size_t>(MemoryKind::managed)] == "managed");

}  // namespace

std::string_view to_string(SliceKind kind) {
  return kSliceKindNames[static_cast<std::size_t>(kind)];
}
std::string_view to_string(CopyKind kind) { return kCopyKindNames[static_cast<std::size_t>(kind)]; }
std::string_view to_string(MemoryKind kind) {
  return kMemoryKindNames[static_cast<std::size_t>(kind)];
}

std::size_t LaunchConfigHash::operator()(const LaunchConfig& config) const {
  std::uint64_t hash = 0;
  const auto mix = [&hash](std::uint64_t value) { hash = hash_mix(hash, value); };
  config.each([&mix](const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_integral_v<Field>) {
      mix(static_cast<std::uint64_t>(field));
    } else if constexpr (std::is_floating_point_v<Field>) {
      mix(std::bit_cast<std::uint64_t>(field));
    } else {
      for (const std::int32_t size : field) mix(static_cast<std::uint32_t>(size));
    }
  });
  return hash;
}

std::size_t SliceTables::details(SliceKind kind) const {
  switch (kind) {
    case SliceKind::cpu_op:
    case SliceKind::user_annotation:
      return ops.size();
    case SliceKind::kernel:
      return kernels.size();
    case SliceKind::memcpy:
    case SliceKind::memset:
      return copies.size();
    case SliceKind::python_function:
      return frames.size();
    case SliceKind::sync:
      return syncs.size();
    default:
      return 0;
  }
}

const Device* Trace::device(std::int32_t number) const {
  const auto at = std::ranges::find(devices, number, &Device::id);
  return at == devices.end() ? nullptr : &*at;
}

const Fact* Trace::fact(std::string_view key) const {
  const auto at = std::ranges::find_if(facts, [key](const Fact& fact) { return fact.key == key; });
  return at == facts.end() ? nullptr : &*at;
}

std::int64_t Trace::number(SliceId id) const {
  const auto at = std::ranges::lower_bound(numbers, id, {}, &NumberedSlice::slice);
  return at != numbers.end() && at->slice == id ? at->number : kAbsent;
}

std::span<const Argument> Trace::arguments(SliceId id) const {
  const auto row = static_cast<std::uint32_t>(id.row());
  const auto first = std::ranges::lower_bound(slice_arguments, row, {}, &Argument::row);
  const auto last = std::ranges::upper_bound(slice_arguments, row, {}, &Argument::row);
  return {first, last};
}

std::string_view Trace::argument(SliceId id, std::string_view key) const {
  for (const Argument& argument : arguments(id)) {
    if (text(argument.key) == key) return text(argument.value);
  }
  return {};
}

}  // namespace fathom
