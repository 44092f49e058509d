// A table, as `fathom <report> --json` prints it.
#include "engine/typed_request.h"
#include "render/json.h"
#include "server/route.h"

namespace fathom::server {
namespace {

Result<Response> answer_report(const Call& call) {
  const Report* const report = find_report(call.rest);
  if (report == nullptr)
    return Error{ErrorCode::not_found, "there is no report '" + std::string(call.rest) + "'"};
  const Result<Request> request = typed_request(*report, call.options());
  if (!request) return request.error();
  const Result<View> view = call.input->session().run(*report, *request);
  if (!view) return view.error();
  return json_response(render_json(*view) + "\n");
}

}  // namespace

Route report() { return {.path = "api/reports/", .answer = answer_report}; }

}  // namespace fathom::server
