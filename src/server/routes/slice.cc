// Everything that is known of one slice.
#include <algorithm>

#include "base/json_writer.h"
#include "server/routes/one_slice.h"

namespace fathom::server {
namespace {

constexpr std::size_t kMostLinks = 200;
/// Longer texts of a recording are cut: a stack may have megabytes.
constexpr std::size_t kMostText = 20'000;

class SliceWriter {
 public:
  SliceWriter(JsonWriter& json, OpenInput& input, SliceId slice)
      : json_(json), input_(input), trace_(input.session().trace()), slice_(slice) {}

  void write() {
    json_.object().member("id", slice_.value).member("name", cut(trace_.name(slice_)));
    write_place();
    write_kind();
    write_operator();
    write_kernel();
    write_copy();
    write_wait();
    write_arguments();
    write_links();
    json_.end();
  }

 private:
  static std::string_view cut(std::string_view text) { return text.substr(0, kMostText); }

  void text(std::string_view key, StringId id) {
    if (id.valid() && !trace_.text(id).empty()) json_.member(key, cut(trace_.text(id)));
  }
  void number(std::string_view key, std::int64_t value) {
    if (value != kAbsent) json_.member(key, value);
  }

  void write_place() {
    const TimelineModel& model = input_.timeline();
    const LaneTracks::Place place = model.lanes.find(slice_);
    json_.member("track", model.id_of_lanes(place.track)).member("lane", place.lane);
    const Track& track = trace_.track(slice_);
    text("process", track.process);
    text("thread", track.thread);
    if (track.device >= 0) json_.member("device", track.device);
    number("stream", track.stream);
    json_.member("begin_ns", to_ns(trace_.slices.start[slice_.row()]));
    const Duration total = trace_.slices.duration[slice_.row()];
    json_.member("duration_ns", to_ns(total)).member("total_ns", to_ns(total));
    json_.member("self_ns", to_ns(input_.links().self_time(slice_)));
  }

  void write_kind() {
    text("category", trace_.categories[trace_.slices.category[slice_.row()]].name);
    json_.member("kind", to_string(trace_.kind(slice_)));
    json_.member("class", slice_class_ids()[input_.timeline().classes.of(slice_)]);
    number("correlation", trace_.slices.correlation[slice_.row()]);
    number("external_id", trace_.slices.external_id[slice_.row()]);
    number("number", trace_.number(slice_));
  }

  [[nodiscard]] std::uint32_t detail() const { return trace_.slices.detail[slice_.row()]; }
  [[nodiscard]] bool has_detail() const { return detail() != StringId::kNone; }

  void write_operator() {
    const SliceKind kind = trace_.kind(slice_);
    if (!has_detail() || (kind != SliceKind::cpu_op && kind != SliceKind::user_annotation)) return;
    const Ops::Row row = trace_.ops.row(detail());
    if (row.signature.valid()) {
      const Signature& signature = trace_.signatures[row.signature.row()];
      text("shapes", signature.shapes);
      text("types", signature.types);
      text("strides", signature.strides);
      text("concrete_inputs", signature.concrete);
    }
    number("sequence", row.sequence);
    number("forward_thread", row.forward_thread);
    number("flops", row.flops);
    text("stack", row.stack);
    text("module_hierarchy", row.module);
  }

  void write_triple(std::string_view key, const std::array<std::int32_t, 3>& values) {
    json_.key(key).array();
    for (const std::int32_t value : values) json_.integer(value);
    json_.end();
  }

  void write_kernel() {
    if (!has_detail() || trace_.kind(slice_) != SliceKind::kernel) return;
    const Kernels::Row row = trace_.kernels.row(detail());
    number("graph_node", row.graph_node);
    if (!row.config.valid()) return;
    const LaunchConfig& config = trace_.launch_configs[row.config.row()];
    json_.key("launch_config").object();
    write_triple("grid", config.grid);
    write_triple("block", config.block);
    if (config.registers >= 0) json_.member("registers", config.registers);
    number("shared_memory", config.shared_memory);
    if (config.blocks_per_sm >= 0) json_.member("blocks_per_sm", config.blocks_per_sm);
    if (config.warps_per_sm >= 0) json_.member("warps_per_sm", config.warps_per_sm);
    if (config.occupancy_percent >= 0) json_.member("occupancy_percent", config.occupancy_percent);
    json_.end();
  }

  void write_copy() {
    const SliceKind kind = trace_.kind(slice_);
    if (!has_detail() || (kind != SliceKind::memcpy && kind != SliceKind::memset)) return;
    const Copies::Row row = trace_.copies.row(detail());
    number("bytes", row.bytes);
    json_.member("copy_kind", to_string(row.kind)).member("source", to_string(row.source));
    json_.member("destination", to_string(row.destination));
  }

  void write_wait() {
    if (!has_detail() || trace_.kind(slice_) != SliceKind::sync) return;
    const Syncs::Row row = trace_.syncs.row(detail());
    text("wait_kind", row.kind);
    number("wait_stream", row.wait_stream);
    number("wait_event", row.wait_event);
  }

  void write_arguments() {
    json_.key("arguments").array();
    for (const Argument& argument : trace_.arguments(slice_)) {
      json_.object().member("key", cut(trace_.text(argument.key)));
      json_.member("value", cut(trace_.text(argument.value))).end();
    }
    json_.end();
  }

  void link(std::string_view key, SliceId other) {
    json_.key(key);
    if (other.valid()) {
      json_.integer(other.value);
    } else {
      json_.null();
    }
  }
  void links(std::string_view key, const std::vector<SliceId>& others) {
    json_.key(key).array();
    for (const SliceId other : others) json_.integer(other.value);
    json_.end();
  }

  void write_links() {
    const LinksOfSlice found = input_.links().of(slice_, kMostLinks);
    const SameName same = input_.links().same_name(slice_);
    json_.member("same_name_slices", same.count).member("same_name_ns", to_ns(same.total));
    json_.key("links").object();
    link("parent", found.parent);
    link("launch", found.launch);
    link("operator", found.op);
    link("frame", found.frame);
    link("module", found.module);
    link("forward", found.forward);
    links("backward", found.backward);
    links("kernels", found.activities);
    json_.member("kernels_total", found.activities_total);
    link("previous", same.previous);
    link("next", same.next);
    link("slowest", same.slowest);
    json_.end();
    json_.key("link_names").object();
    for (const auto& [key, other] : {std::pair{"parent", found.parent},
                                     {"launch", found.launch},
                                     {"operator", found.op},
                                     {"frame", found.frame},
                                     {"module", found.module},
                                     {"forward", found.forward}}) {
      if (other.valid()) json_.member(key, cut(trace_.name(other)));
    }
    json_.end();
  }

  JsonWriter& json_;
  OpenInput& input_;
  const Trace& trace_;
  SliceId slice_;
};

Result<Response> answer_slice(const Call& call) {
  const Result<SliceId> slice = slice_of(call);
  if (!slice) return slice.error();
  std::string text;
  JsonWriter json(text, kJsonCompact);
  SliceWriter(json, *call.input, *slice).write();
  return json_response(std::move(text));
}

}  // namespace

Route slice() { return {.path = "api/slice", .answer = answer_slice}; }

}  // namespace fathom::server
