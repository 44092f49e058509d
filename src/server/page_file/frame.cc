// Puts script, style and icon into the page.
#include "server/page_file/frame.h"

#include "base/base64.h"
#include "base/sha256.h"
#include "server/assets.h"
#include "server/http/response.h"

namespace fathom::server {
namespace {

constexpr std::string_view kIcon = "\"assets/icon.svg\"";
constexpr std::string_view kStyle = "<link rel=\"stylesheet\" href=\"assets/app.css\" />";
constexpr std::string_view kShared = "<link rel=\"modulepreload\" href=\"assets/chunk.js\" />";
constexpr std::string_view kScript = "<script src=\"assets/app.js\" type=\"module\"></script>";
constexpr std::string_view kCharset = "<meta charset=\"utf-8\" />";
constexpr std::string_view kEnd = "</body>";

std::string asset(std::string_view name) {
  const Asset* const found = find_asset(name);
  if (found == nullptr) return {};
  Response response;
  response.fixed = found->gzipped;
  response.gzipped = true;
  expand(response);
  return std::move(response.body);
}

/// Puts `by` in the place of the only `what`.
bool replace(std::string& text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos || text.find(what, at + 1) != std::string::npos) return false;
  text.replace(at, what.size(), by);
  return true;
}

std::string policy(std::string_view script, std::string_view style) {
  return "default-src 'none'; script-src 'sha256-" + base64(sha256(script)) +
         "'; style-src 'sha256-" + base64(sha256(style)) +
         "'; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for "
         "'script'; trusted-types 'none'";
}

}  // namespace

Result<Frame> Frame::make() {
  std::string page = asset("index.html");
  const std::string script = asset("whole.js");
  const std::string style = asset("app.css");
  const std::string meta = std::string(kCharset) +
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
                           policy(script, style) + "\" />";
  const bool whole =
      !script.empty() && script.find("</script") == std::string::npos &&
      script.find("<!--") == std::string::npos && style.find("</style") == std::string::npos &&
      replace(page, kCharset, meta) &&
      replace(page, kIcon, "\"data:image/svg+xml;base64," + base64(asset("icon.svg")) + "\"") &&
      replace(page, kStyle, "<style>" + style + "</style>") && replace(page, kShared, "") &&
      replace(page, kScript, "");
  const std::size_t end = page.rfind(kEnd);
  if (!whole || end == std::string::npos)
    return Error{ErrorCode::internal, "the page of this build cannot be put into a file"};
  Frame frame;
  frame.before_ =
      page.substr(0, end) + "<script type=\"application/octet-stream\" id=\"fathom-answers\">";
  frame.behind_ = "</script><script>" + script + "</script>" + page.substr(end);
  return frame;
}

std::size_t Frame::room(std::size_t most) const {
  const std::size_t own = before_.size() + behind_.size();
  return most <= own ? 0 : (most - own) / 4 * 3;
}

std::string Frame::with(std::string_view archive) const {
  return before_ + base64(archive) + behind_;
}

}  // namespace fathom::server
