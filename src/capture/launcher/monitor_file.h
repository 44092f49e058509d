// The launcher's own capture file: telemetry, the tree of processes, their ends.
#pragma once

#include <memory>
#include <string>

#include "capture/launcher/recording.h"
#include "wire/writer.h"

namespace fathom::capture {

/// Makes monitor.fathom in the session folder, within the limits that were asked for. Errors: io.
Result<std::unique_ptr<wire::Writer>> open_monitor_file(const std::string& folder,
                                                        const Recording& recording);

}  // namespace fathom::capture
