// The key tables, and a small hash table over each.
#include "formats/chrome/keys.h"

#include <cstring>
#include <span>

namespace fathom::chrome {
namespace {

struct Spelling {
  std::string_view text;
  Key key;
};

constexpr Spelling kEventKeys[] = {
    {"ph", Key::ph},
    {"cat", Key::cat},
    {"name", Key::name},
    {"pid", Key::pid},
    {"tid", Key::tid},
    {"ts", Key::ts},
    {"dur", Key::dur},
    {"args", Key::args},
    {"id", Key::id},
    {"id2", Key::id},
    {"bind_id", Key::ignored},
    {"s", Key::ignored},
    {"bp", Key::ignored},
    {"tts", Key::ignored},
    {"tdur", Key::ignored},
    {"cname", Key::ignored},
    {"scope", Key::ignored},
    {"flow_in", Key::ignored},
    {"flow_out", Key::ignored},
    {"sf", Key::ignored},
    {"esf", Key::ignored},
};

constexpr Spelling kArgsKeys[] = {
    {"External id", Key::external_id},
    {"external id", Key::external_id},
    {"correlation", Key::correlation},
    {"correlationId", Key::correlation},
    {"Sequence number", Key::sequence},
    {"Fwd thread id", Key::forward_thread},
    {"Input Dims", Key::input_dims},
    {"Input dims", Key::input_dims},
    {"Input type", Key::input_type},
    {"Input Strides", Key::input_strides},
    {"Concrete Inputs", Key::concrete_inputs},
    {"flops", Key::flops},
    {"Flops", Key::flops},
    {"Call stack", Key::call_stack},
    {"Module Hierarchy", Key::module_hierarchy},
    {"device", Key::device},
    {"stream", Key::stream},
    {"grid", Key::grid},
    {"block", Key::block},
    {"registers per thread", Key::registers},
    {"shared memory", Key::shared_memory},
    {"blocks per SM", Key::blocks_per_sm},
    {"warps per SM", Key::warps_per_sm},
    {"est. achieved occupancy %", Key::occupancy},
    {"theoretical occupancy %", Key::occupancy},
    {"graph node id", Key::graph_node},
    {"bytes", Key::bytes},
    {"Python id", Key::python_id},
    {"Python parent id", Key::python_parent},
    {"Python module id", Key::python_module},
    {"Collective name", Key::collective_name},
    {"dtype", Key::dtype},
    {"In msg nelems", Key::in_elements},
    {"Out msg nelems", Key::out_elements},
    {"Group size", Key::group_size},
    {"Process Group Name", Key::group_name},
    {"Process Group Description", Key::group_description},
    {"Process Group Ranks", Key::group_ranks},
    {"Seq", Key::collective_sequence},
    {"cuda_sync_kind", Key::sync_kind},
    {"wait_on_stream", Key::wait_stream},
    {"wait_on_cuda_event_id", Key::wait_event},
    {"wait_on_cuda_event_record_corr_id", Key::wait_correlation},
    {"Addr", Key::memory_address},
    {"Bytes", Key::memory_bytes},
    {"Total Allocated", Key::memory_allocated},
    {"Total Reserved", Key::memory_reserved},
    {"Device Type", Key::memory_device_type},
    {"Device Id", Key::memory_device},
    {"name", Key::meta_name},
    {"labels", Key::meta_labels},
    {"sort_index", Key::meta_sort_index},
    // Known, of no use to any analysis so far.
    {"Ev Idx", Key::ignored},
    {"Trace name", Key::ignored},
    {"Trace iteration", Key::ignored},
    {"Profiler Event Index", Key::ignored},
    {"Record function id", Key::ignored},
    {"cbid", Key::ignored},
    {"cid", Key::ignored},
    {"queued", Key::ignored},
    {"context", Key::ignored},
    {"Device", Key::ignored},
    {"external ts", Key::ignored},
    {"memory bandwidth (GB/s)", Key::ignored},
    {"Input names", Key::ignored},
    {"Output dims", Key::ignored},
    {"Output type", Key::ignored},
    {"Output names", Key::ignored},
    {"Extra arguments", Key::ignored},
    {"Op count", Key::ignored},
    {"finished", Key::ignored},
    {"priority", Key::ignored},
    {"scope", Key::ignored},
};

static_assert(1 + std::size(kEventKeys) + std::size(kArgsKeys) <= kKeyIndexes);

struct KeyTable {
  static constexpr std::size_t kSlots = 512;
  std::array<KeyEntry, kSlots> slots{};

  KeyTable(std::span<const Spelling> spellings, std::size_t first_index) {
    std::size_t index = first_index;
    for (const Spelling& spelling : spellings) {
      std::size_t at = slot_of(spelling.text);
      while (slots[at].key != Key::unknown) at = (at + 1) % kSlots;
      KeyEntry& entry = slots[at];
      entry.key = spelling.key;
      entry.index = static_cast<std::uint8_t>(index++);
      entry.quoted_size = static_cast<std::uint8_t>(spelling.text.size() + 3);
      entry.quoted[0] = '"';
      std::memcpy(entry.quoted.data() + 1, spelling.text.data(), spelling.text.size());
      entry.quoted[spelling.text.size() + 1] = '"';
      entry.quoted[spelling.text.size() + 2] = ':';
    }
  }

  static std::size_t slot_of(std::string_view text) {
    if (text.empty()) return 0;
    const auto byte = [text](std::size_t i) {
      return static_cast<std::size_t>(static_cast<unsigned char>(text[i]));
    };
    return (text.size() * 37 + byte(0) * 5 + byte(text.size() / 2) * 17 +
            byte(text.size() - 1) * 3) %
           kSlots;
  }

  [[nodiscard]] const KeyEntry& find(std::string_view text) const {
    static const KeyEntry kUnknown{};
    for (std::size_t at = slot_of(text); slots[at].key != Key::unknown; at = (at + 1) % kSlots) {
      if (slots[at].text() == text) return slots[at];
    }
    return kUnknown;
  }
};

}  // namespace

const KeyEntry& find_event_key(std::string_view text) {
  static const KeyTable table(kEventKeys, 1);
  return table.find(text);
}

const KeyEntry& find_args_key(std::string_view text) {
  static const KeyTable table(kArgsKeys, 1 + std::size(kEventKeys));
  return table.find(text);
}

}  // namespace fathom::chrome
