// What sys.monitoring calls, from Python 3.12 on.
#pragma once

#include "capture/python/cpython.h"

namespace fathom::python {

/// (enter, leave, enter_c, leave_c): callables for PY_START, PY_RESUME and PY_THROW; for PY_RETURN,
/// PY_YIELD and PY_UNWIND; for CALL; for C_RETURN and C_RAISE. Null and an exception where that
/// fails.
PyObject* monitoring_callbacks();

/// (start, resume, leave, unwind, line): callables for PY_START; for PY_RESUME and PY_THROW; for
/// PY_RETURN and PY_YIELD; for PY_UNWIND; for LINE. Null and an exception where that fails.
PyObject* line_callbacks();

}  // namespace fathom::python
