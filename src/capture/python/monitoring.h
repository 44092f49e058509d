// What sys.monitoring calls, from Python 3.12 on.
#pragma once

#include "capture/python/cpython.h"

namespace fathom::python {

/// (enter, leave, enter_c, leave_c): callables for PY_START, PY_RESUME and PY_THROW; for PY_RETURN,
/// PY_YIELD and PY_UNWIND; for CALL; for C_RETURN and C_RAISE. Null and an exception where that
/// fails.
PyObject* monitoring_callbacks();

}  // namespace fathom::python
