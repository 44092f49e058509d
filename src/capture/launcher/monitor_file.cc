// Opens the launcher's own capture file.
#include "capture/launcher/monitor_file.h"

namespace fathom::capture {

Result<std::unique_ptr<wire::Writer>> open_monitor_file(const std::string& folder,
                                                        const Recording& recording) {
  wire::WriterOptions options;
  options.max_size_bytes = static_cast<std::uint64_t>(recording.max_size);
  if (recording.last) options.last_ns = to_ns(*recording.last);
  return wire::Writer::open(folder + "/monitor.fathom", options);
}

}  // namespace fathom::capture
