// Opens recordings one after the other, so that memory holds one at a time.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "engine/inputs/inputs.h"
#include "engine/session.h"

namespace fathom {

/// Shared with who keeps it for longer than its turn.
using SharedSession = std::shared_ptr<const Session>;

/// What a callback says about the inputs that follow.
enum class Proceed : unsigned char { next, stop };

/// What the caller of for_each_session() does beside using the sessions.
struct InputHandlers {
  /// Opens one, e.g. open_session(), or gives one that is open already.
  std::function<Result<SharedSession>(const Inputs::File&)> open;
  /// A file that was found in a directory is no trace; it is left out.
  std::function<void(const Error&)> skipped;
  /// An input cannot be read, or `use` failed with it.
  std::function<void(const Error&)> failed;
};

/// Session::open() of one that may be shared.
Result<SharedSession> open_session(const Inputs::File& file, const ReadOptions& options);

using UseSession = std::function<Result<Proceed>(const SharedSession&, const Inputs::File&)>;

/// Was the file found in a directory, and is it no trace that cannot be read but something else?
bool is_other_file(const Inputs::File& file, const Error& error);

/// Calls `use` for each recording behind the inputs. After an error the next input is tried, but an
/// error of `use` before anything succeeded ends it: what is wrong with the request is wrong for
/// every input. Where no file is a trace, that is an error, too.
void for_each_session(const Inputs& inputs, const InputHandlers& handlers, const UseSession& use);

}  // namespace fathom
