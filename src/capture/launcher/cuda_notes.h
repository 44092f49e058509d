// What libfathom_cuda.so left in a session's capture files for the launcher to say.
#pragma once

#include <string>
#include <vector>

#include "capture/launcher/manifest.h"

namespace fathom::capture {

struct CudaNotes {
  bool recorded = false;              ///< A process of the session used CUDA.
  std::vector<NotRecorded> limits;    ///< Each once, however many processes it befell.
  std::vector<std::string> measured;  ///< What recording cost, where that was asked for.
};

/// Reads the facts of cuda-*.fathom in the folder.
CudaNotes cuda_notes(const std::string& folder);

}  // namespace fathom::capture
