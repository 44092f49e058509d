// Arrows from and to one slice.
#include "base/json_writer.h"
#include "server/routes/one_slice.h"

namespace fathom::server {
namespace {

constexpr std::size_t kMost = 200;

class FlowsWriter {
 public:
  explicit FlowsWriter(JsonWriter& json) : json_(json) {}
  void add(SliceId from, SliceId to, std::string_view kind) {
    if (!from.valid() || !to.valid()) return;
    if (written_ == kMost) {
      ++left_off_;
      return;
    }
    ++written_;
    json_.object().member("from", from.value).member("to", to.value).member("kind", kind).end();
  }
  [[nodiscard]] std::uint64_t left_off() const { return left_off_; }

 private:
  JsonWriter& json_;
  std::size_t written_ = 0;
  std::uint64_t left_off_ = 0;
};

Result<Response> answer_flows(const Call& call) {
  const Result<SliceId> slice = slice_of(call);
  if (!slice) return slice.error();
  const LinksOfSlice links = call.input->links().of(*slice, kMost);
  const ActivityColumn<SliceId>& launch = call.input->context().links().launch;
  std::string text;
  JsonWriter json(text, kJsonCompact);
  json.object().key("flows").array();
  FlowsWriter flows(json);
  flows.add(links.launch, *slice, "launch");
  flows.add(links.forward, *slice, "forward-backward");
  for (const SliceId backward : links.backward) flows.add(*slice, backward, "forward-backward");
  for (const SliceId activity : links.activities)
    flows.add(launch[activity.row()], activity, "launch");
  json.end();
  json.member("left_off", flows.left_off() + links.activities_total - links.activities.size())
      .end();
  return json_response(std::move(text));
}

}  // namespace

Route flows() { return {.path = "api/flows", .answer = answer_flows}; }

}  // namespace fathom::server
