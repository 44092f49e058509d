// The keys of trace events that are read, found by text or by a guess of which one comes next.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace fathom::chrome {

/// Keys of an event object and of its "args". Several spellings may share an id.
enum class Key : std::uint8_t {
  unknown,  ///< Not in the table: counted.
  ignored,  ///< In the table, but nothing that Fathom reads.
  // of the event
  ph,
  cat,
  name,
  pid,
  tid,
  ts,
  dur,
  args,
  id,
  // of args
  external_id,
  correlation,
  sequence,
  forward_thread,
  input_dims,
  input_type,
  input_strides,
  concrete_inputs,
  flops,
  call_stack,
  module_hierarchy,
  device,
  stream,
  grid,
  block,
  registers,
  shared_memory,
  blocks_per_sm,
  warps_per_sm,
  occupancy,
  graph_node,
  bytes,
  python_id,
  python_parent,
  python_module,
  collective_name,
  dtype,
  in_elements,
  out_elements,
  group_size,
  group_name,
  group_description,
  group_ranks,
  collective_sequence,
  sync_kind,
  wait_stream,
  wait_event,
  wait_correlation,
  memory_address,
  memory_bytes,
  memory_allocated,
  memory_reserved,
  memory_device_type,
  memory_device,
  meta_name,
  meta_labels,
  meta_sort_index,
};
inline constexpr std::size_t kKeys = static_cast<std::size_t>(Key::meta_sort_index) + 1;

/// A row of the key table.
struct KeyEntry {
  Key key = Key::unknown;
  std::uint8_t index = 0;  ///< Distinct for every spelling of both tables; 0 for Key::unknown.
  std::uint8_t quoted_size = 0;   ///< Length of `"text":`; 0 for Key::unknown.
  std::array<char, 48> quoted{};  ///< `"text":`, padded with zeros.
  [[nodiscard]] std::string_view text() const { return {quoted.data() + 1, quoted_size - 3U}; }
};

/// More than any KeyEntry::index.
inline constexpr std::size_t kKeyIndexes = 128;

/// The entry of a key of the event object / of its args, or the entry of Key::unknown.
const KeyEntry& find_event_key(std::string_view text);
const KeyEntry& find_args_key(std::string_view text);

}  // namespace fathom::chrome
