// What is known of a slice beside its name and times, under the names that Kineto gives it.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include "formats/chrome/attributes.h"
#include "store/trace.h"

namespace fathom {

namespace export_detail {

template <typename Sink>
void whole(Sink& sink, std::string_view key, std::int64_t value) {
  if (value != kAbsent) sink.integer(key, value);
}

/// Writes the value of one attribute where it was recorded.
template <typename Sink, typename Value>
void argument(Sink& sink, std::string_view key, const Value& value, chrome::Form form) {
  if constexpr (std::is_same_v<Value, StringId>) {
    if (!value.valid()) return;
    if (form == chrome::Form::json) return sink.json(key, value);
    sink.text(key, value);
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    whole(sink, key, value);
  } else if constexpr (std::is_same_v<Value, std::int8_t>) {
    sink.integer(key, value);
  } else if constexpr (std::is_same_v<Value, std::int32_t>) {
    if (value != -1) sink.integer(key, value);
  } else if constexpr (std::is_same_v<Value, double>) {
    if (value != -1) sink.real(key, value);
  } else {
    if (value != Value()) sink.sizes(key, value);
  }
}

/// Writes the attributes of a row that were recorded.
template <typename Sink, typename Row>
void row_arguments(Sink& sink, const Row& row) {
  chrome::each_attribute_of<Row>([&](const auto& attribute) {
    argument(sink, attribute.key, row.*attribute.field, attribute.form);
  });
}

template <typename Sink>
void detail_arguments(const Trace& trace, SliceKind kind, std::uint32_t row, Sink& sink) {
  if (row == SliceId::kNone) return;
  switch (kind) {
    case SliceKind::cpu_op:
    case SliceKind::user_annotation:
      if (const SignatureId signature = trace.ops.signature[row]; signature.valid())
        row_arguments(sink, trace.signatures[signature.row()]);
      return row_arguments(sink, trace.ops.row(row));
    case SliceKind::kernel:
      if (const LaunchConfigId config = trace.kernels.config[row]; config.valid())
        row_arguments(sink, trace.launch_configs[config.row()]);
      return row_arguments(sink, trace.kernels.row(row));
    case SliceKind::memcpy:
    case SliceKind::memset:
      return row_arguments(sink, trace.copies.row(row));
    case SliceKind::python_function:
      return row_arguments(sink, trace.frames.row(row));
    case SliceKind::sync:
      return row_arguments(sink, trace.syncs.row(row));
    default:
      return;
  }
}

template <typename Sink>
void collective_arguments(const Trace& trace, SliceId slice, Sink& sink) {
  const auto at = std::ranges::lower_bound(trace.collectives, slice, {}, &Collective::slice);
  if (at == trace.collectives.end() || at->slice != slice) return;
  Collective collective = *at;
  // Readers recognise a collective by its name.
  if (!collective.name.valid()) collective.name = StringId(0);
  row_arguments(sink, collective);
}

}  // namespace export_detail

/// Calls sink.integer(key, value), .real(key, value), .text(key, id), .json(key, id) or
/// .sizes(key, three numbers) for each argument that the slice has. O(log n).
template <typename Sink>
void visit_arguments(const Trace& trace, SliceId slice, Sink& sink) {
  using export_detail::whole;
  const std::size_t row = slice.row();
  const Track& track = trace.track(slice);
  whole(sink, "External id", trace.slices.external_id[row]);
  if (track.kind == TrackKind::device_stream) {
    if (track.device >= 0) sink.integer("device", track.device);
    whole(sink, "stream", track.stream);
  }
  whole(sink, "correlation", trace.slices.correlation[row]);
  export_detail::detail_arguments(trace, trace.kind(slice), trace.slices.detail[row], sink);
  if (!trace.collectives.empty()) export_detail::collective_arguments(trace, slice, sink);
  if (!trace.numbers.empty()) whole(sink, "number", trace.number(slice));
  if (trace.slice_arguments.empty()) return;
  for (const Argument& argument : trace.arguments(slice))
    sink.text(trace.text(argument.key), argument.value);
}

}  // namespace fathom
