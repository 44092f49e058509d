// Opens recordings one after the other, and leaves out files of a directory that are no traces.
#include "engine/each_session.h"

#include <utility>

#include "base/out_of_memory.h"

namespace fathom {
bool is_other_file(const Inputs::File& file, const Error& error) {
  return file.found && (error.code == ErrorCode::unsupported || error.code == ErrorCode::corrupt);
}

Result<SharedSession> open_session(const Inputs::File& file, const ReadOptions& options) {
  Result<std::unique_ptr<Session>> session = Session::open(file, options);
  if (!session) return std::move(session).error();
  return SharedSession(*std::move(session));
}

void for_each_session(const Inputs& inputs, const InputHandlers& handlers, const UseSession& use) {
  bool failed = false;
  bool used_one = false;
  for (const Inputs::File& file : inputs.files) {
    const Result<SharedSession> session = handlers.open(file);
    if (!session) {
      if (is_other_file(file, session.error())) {
        handlers.skipped(session.error());
        continue;
      }
      failed = true;
      handlers.failed(session.error());
      continue;
    }
    const Result<Proceed> used =
        or_out_of_memory("analysing " + file.name(), [&] { return use(*session, file); });
    if (!used) {
      failed = true;
      handlers.failed(used.error());
      if (!used_one) return;
      continue;
    }
    used_one = true;
    if (*used == Proceed::stop) return;
  }
  if (used_one || failed) return;
  const std::size_t argument = inputs.files.empty() ? 0 : inputs.files.front().argument;
  const std::string name =
      argument < inputs.arguments.size() ? inputs.arguments[argument] + ": " : "";
  handlers.failed(
      {ErrorCode::not_found, name + "none of its files is a trace that Fathom can read"});
}

}  // namespace fathom
