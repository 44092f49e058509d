// The session folder of a run.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace fathom::capture {

/// What to call a run of this command: the script's stem, the module, or the program's name.
std::string name_of(const std::vector<std::string>& command);

struct SessionFolder {
  std::string path;  ///< As to be shown.
  std::string absolute;
  std::string warning;  ///< Why it does not lie where it should; may be empty.
};

/// Makes the folder. `wanted` (-o) may exist when it is empty; without it, a new one under
/// fathom-runs/, or in the folder for temporary files where the current folder cannot be written
/// to. Errors: invalid_argument, with what to do.
Result<SessionFolder> make_session_folder(const std::string& wanted, const std::string& name);

}  // namespace fathom::capture
