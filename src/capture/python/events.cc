// The state of the recording, and the label of a code object.
#include "capture/python/events.h"

namespace fathom::python {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): one of the process
constinit Recording recording;

void* label_of_code(const void* /*code*/, void* about) {
  auto* const code = static_cast<PyObject*>(about);
  Py_IncRef(code);
  return code;
}

}  // namespace fathom::python
