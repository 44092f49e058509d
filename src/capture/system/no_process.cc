// Names the limit where that is the reason.
#include "capture/system/no_process.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "base/process_limit.h"

namespace fathom::capture {

Error no_process(int reason) {
  return {ErrorCode::io, "no process can be made: " + (reason == EAGAIN ? std::string(kProcessLimit)
                                                                        : std::strerror(reason))};
}

}  // namespace fathom::capture
