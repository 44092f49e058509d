// The key tables, and a small hash table over each.
#include "formats/chrome/keys.h"

#include <cstring>
#include <span>

namespace fathom::chrome {
namespace {

using Spelling = KeyTable::Spelling;

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
    {"Python thread", Key::ignored},
    {"Backend", Key::ignored},
    {"CallFrom", Key::ignored},
    {"In split size", Key::ignored},
    {"Out split size", Key::ignored},
    {"Global rank start", Key::ignored},
    {"Global rank stride", Key::ignored},
    {"Process Group ID", Key::ignored},
    {"Rank", Key::ignored},
    {"Src Rank", Key::ignored},
    {"Dst Rank", Key::ignored},
    {"Input Tensors start", Key::ignored},
    {"Output Tensors start", Key::ignored},
    {"Is asynchronized op", Key::ignored},
    {"Comms Id", Key::ignored},
    {"occupancy", Key::ignored},
    {"activeBlocksPerMultiprocessor", Key::ignored},
    {"allocatedRegistersPerBlock", Key::ignored},
    {"allocatedSharedMemPerBlock", Key::ignored},
    {"blockLimitBarriers", Key::ignored},
    {"blockLimitBlocks", Key::ignored},
    {"blockLimitRegs", Key::ignored},
    {"blockLimitSharedMem", Key::ignored},
    {"blockLimitWarps", Key::ignored},
    {"limitingFactors", Key::ignored},
    {"channel", Key::ignored},
    {"channel_type", Key::ignored},
    {"event_id", Key::ignored},
    {"fromContext", Key::ignored},
    {"fromDevice", Key::ignored},
    {"inContext", Key::ignored},
    {"inDevice", Key::ignored},
    {"toContext", Key::ignored},
    {"toDevice", Key::ignored},
    {"graph id", Key::ignored},
    {"hsa_queue", Key::ignored},
    {"kernel", Key::ignored},
    {"kind", Key::ignored},
    {"ptr", Key::ignored},
    {"src", Key::ignored},
    {"dst", Key::ignored},
    {"size", Key::ignored},
    {"sycl queue", Key::ignored},
    {"sycl_node_id", Key::ignored},
    {"sycl_invocation_id", Key::ignored},
    {"kernel_id", Key::ignored},
    {"overhead cost", Key::ignored},
    {"overhead count", Key::ignored},
    {"kernel_hash", Key::ignored},
    {"kernel_file", Key::ignored},
    {"kernel_backend", Key::ignored},
    {"kernel_name", Key::ignored},
    {"kernel_kwargs", Key::ignored},
    {"num_warps", Key::ignored},
    {"num_stages", Key::ignored},
};

static_assert(1 + std::size(kEventKeys) + std::size(kArgsKeys) < kKeyIndexes);

}  // namespace

KeyTable::KeyTable(std::span<const Spelling> spellings, std::size_t first_index) {
  std::size_t row = 1;
  for (const Spelling& spelling : spellings) {
    KeyEntry& entry = entries_[row];
    entry.key = spelling.key;
    entry.index = static_cast<std::uint8_t>(first_index + row - 1);
    entry.quoted_size = static_cast<std::uint8_t>(spelling.text.size() + 3);
    entry.quoted[0] = '"';
    std::memcpy(entry.quoted.data() + 1, spelling.text.data(), spelling.text.size());
    entry.quoted[spelling.text.size() + 1] = '"';
    entry.quoted[spelling.text.size() + 2] = ':';
    std::size_t at = slot_of(spelling.text);
    while (slots_[at] != 0) at = (at + 1) % kSlots;
    slots_[at] = static_cast<std::uint8_t>(row++);
  }
}

/// The length and four characters distinguish nearly all keys.
std::size_t KeyTable::slot_of(std::string_view text) {
  const std::size_t size = text.size();
  if (size == 0) return 0;
  const auto byte = [text](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[i]));
  };
  return (size * 89 + byte(0) * 5 + byte(size / 2) * 37 + byte(size - 1) * 17 +
          byte(size / 4) * 3) %
         kSlots;
}

const KeyEntry& KeyTable::find(std::string_view text) const {
  for (std::size_t at = slot_of(text); slots_[at] != 0; at = (at + 1) % kSlots) {
    const KeyEntry& entry = entries_[slots_[at]];
    if (entry.text() == text) return entry;
  }
  return entries_[0];
}

const KeyTable& event_keys() {
  static const KeyTable table(kEventKeys, 1);
  return table;
}

const KeyTable& args_keys() {
  static const KeyTable table(kArgsKeys, 1 + std::size(kEventKeys));
  return table;
}

}  // namespace fathom::chrome
