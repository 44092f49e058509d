// Recognises Fathom's own recorder by its folders.
#include "store/recorder_file.h"

namespace fathom {

bool is_recorder_file(std::string_view file) {
  return file.find("/fathom_hook/") != std::string_view::npos ||
         file.find("/fathom_recorder/") != std::string_view::npos ||
         file.ends_with("/hook/sitecustomize.py");
}

bool is_around_threads(std::string_view file) {
  return file.ends_with("/fathom_recorder/threads.py");
}

}  // namespace fathom
