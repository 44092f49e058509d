// Recognises collectives: kind, size and where they run.
#include "analysis/devices/collectives.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "analysis/roofline/op_arguments.h"
#include "analysis/structure/from_outside.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, kCollectiveKinds> kKinds = {
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "other"};

struct Word {
  std::string_view text;
  CollectiveKind kind;
};
// In lower case, without underscores.
constexpr auto kWords = std::to_array<Word>({
    {"allreduce", CollectiveKind::all_reduce},
    {"allgather", CollectiveKind::all_gather},
    {"reducescatter", CollectiveKind::reduce_scatter},
    {"alltoall", CollectiveKind::all_to_all},
    {"sendrecv", CollectiveKind::all_to_all},
    {"broadcast", CollectiveKind::broadcast},
});

/// Collectives name types as c10::ScalarType does, operators as C++.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 10> kScalarTypes = {{
    {"Bool", 1},
    {"Byte", 1},
    {"Char", 1},
    {"ComplexDouble", 16},
    {"ComplexFloat", 8},
    {"Double", 8},
    {"Float", 4},
    {"Int", 4},
    {"Long", 8},
    {"Short", 2},
}};

/// 0 for what no collective gives, but a damaged file says: more than 4 TiB.
std::int64_t whole_bytes(double bytes) {
  constexpr double kMost = 0x1p42;
  return bytes > 0 && bytes <= kMost ? static_cast<std::int64_t>(bytes) : 0;
}

/// The kind of each call. Each name is looked at once.
class Kinds {
 public:
  explicit Kinds(const Context& context)
      : context_(context), trace_(context.trace), known_(context.trace.strings.size(), kUnknown) {
    notes_.resize(trace_.slices.size());
  }
  CollectiveKind of(SliceId slice) {
    const CollectiveKind kind = by_name(slice);
    return kind == CollectiveKind::other ? by_surroundings(slice) : kind;
  }

 private:
  static constexpr std::uint8_t kUnknown = 0xff;
  CollectiveKind by_name(SliceId slice) {
    std::uint8_t& known = known_[trace_.slices.name[slice.row()].row()];
    if (known == kUnknown) known = static_cast<std::uint8_t>(collective_kind(trace_.name(slice)));
    return static_cast<CollectiveKind>(known);
  }
  /// One kernel may run all kinds (RCCL's generic one): its metadata, or who launched it, tells.
  CollectiveKind by_surroundings(SliceId slice) {
    const CollectiveKind kind = by_metadata(slice);
    if (kind != CollectiveKind::other) return kind;
    const SliceId at = innermost_around(
        notes_, context_.nesting().parent, context_.links().launch[slice.row()],
        [this](SliceId around) { return by_itself(around) != CollectiveKind::other; });
    return at.valid() ? by_itself(at) : kind;
  }
  CollectiveKind by_itself(SliceId slice) {
    const CollectiveKind kind = by_metadata(slice);
    return kind == CollectiveKind::other ? by_name(slice) : kind;
  }
  [[nodiscard]] CollectiveKind by_metadata(SliceId slice) const {
    const std::vector<Collective>& all = trace_.collectives;
    const auto at = std::ranges::lower_bound(all, slice, {}, &Collective::slice);
    if (at == all.end() || at->slice != slice || !at->name.valid()) return CollectiveKind::other;
    return collective_kind(trace_.text(at->name));
  }

  const Context& context_;
  const Trace& trace_;
  std::vector<std::uint8_t> known_;
  FromOutside notes_;
};

/// The size of one call, from the metadata on it or around it.
class Sizes {
 public:
  explicit Sizes(const Context& context)
      : context_(context), of_signature_(context.trace.signatures.size(), kUnknown) {
    notes_.resize(context.trace.slices.size());
  }

  void fill(CollectiveCall& call, SliceId host) {
    if (by_metadata(call, call.slice)) return;
    CollectiveCall unused;
    const auto has_size = [&](SliceId at) {
      return by_metadata(unused, at) || by_signature(unused, at);
    };
    const SliceId at = innermost_around(notes_, context_.nesting().parent, host, has_size);
    if (at.valid() && !by_metadata(call, at)) by_signature(call, at);
  }

 private:
  static constexpr std::int64_t kUnknown = -1;

  bool by_metadata(CollectiveCall& call, SliceId slice) const {
    const std::vector<Collective>& all = context_.trace.collectives;
    const auto at = std::ranges::lower_bound(all, slice, {}, &Collective::slice);
    if (at == all.end() || at->slice != slice || at->in_elements < 0) return false;
    call.metadata = &*at;
    const auto largest = static_cast<double>(std::max(at->in_elements, at->out_elements));
    const std::int64_t each = at->dtype.valid() ? dtype_bytes(context_.trace.text(at->dtype)) : 0;
    call.bytes = whole_bytes(largest * static_cast<double>(each));
    const double size = call.bytes > 0 ? static_cast<double>(call.bytes) : largest;
    call.size = 2 * static_cast<std::uint64_t>(size) + 1;
    return true;
  }

  bool by_signature(CollectiveCall& call, SliceId slice) {
    if (context_.phases()[slice] != Phase::communication) return false;
    const Trace& trace = context_.trace;
    const Signature* const signature = signature_of(trace, slice);
    if (signature == nullptr || !signature->shapes.valid()) return false;
    std::int64_t& bytes =
        of_signature_[static_cast<std::size_t>(signature - trace.signatures.data())];
    if (bytes == kUnknown) bytes = bytes_of(*signature);
    if (bytes == 0) return false;
    call.bytes = bytes;
    call.size = 2 * static_cast<std::uint64_t>(bytes);
    return true;
  }

  [[nodiscard]] std::int64_t bytes_of(const Signature& signature) const {
    const Trace& trace = context_.trace;
    const auto text = [&trace](StringId id) {
      return id.valid() ? trace.text(id) : std::string_view();
    };
    const OpArguments arguments(text(signature.shapes), text(signature.types), {});
    double bytes = 0;
    for (const TensorArgument& tensor : arguments.tensors()) bytes += tensor.bytes();
    return whole_bytes(bytes);
  }

  const Context& context_;
  std::vector<std::int64_t> of_signature_;
  FromOutside notes_;
};

}  // namespace

std::string_view to_string(CollectiveKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

CollectiveKind collective_kind(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '_') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const auto at = std::ranges::find_if(
      kWords, [&plain](const Word& word) { return plain.find(word.text) != std::string::npos; });
  return at == kWords.end() ? CollectiveKind::other : at->kind;
}

std::int64_t dtype_bytes(std::string_view dtype) {
  const auto* const known =
      std::ranges::find(kScalarTypes, dtype, &std::pair<std::string_view, std::int64_t>::first);
  return known != kScalarTypes.end() ? known->second : element_bytes(dtype);
}

std::vector<SliceId> host_collectives(const Context& context) {
  std::vector<SliceId> found;
  const Phases& phases = context.phases();
  const Column<SliceId>& parent = context.nesting().parent;
  for (const Nesting::Thread& thread : context.nesting().work) {
    for (const SliceId slice : thread.slices) {
      if (phases[slice] != Phase::communication) continue;
      const SliceId around = parent[slice.row()];
      if (!around.valid() || phases[around] != Phase::communication) found.push_back(slice);
    }
  }
  return found;
}

std::vector<CollectiveCall> describe_collectives(const Context& context,
                                                 std::span<const SliceId> slices) {
  std::vector<CollectiveCall> calls;
  calls.reserve(slices.size());
  Kinds kinds(context);
  Sizes sizes(context);
  for (const SliceId slice : slices) {
    CollectiveCall call{.slice = slice, .kind = kinds.of(slice)};
    const bool on_device = is_device_activity(context.trace.kind(slice));
    sizes.fill(call, on_device ? context.links().launch[slice.row()] : slice);
    calls.push_back(call);
  }
  return calls;
}

}  // namespace fathom
