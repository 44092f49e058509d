// fathom._core: the engine in Python. Holds no logic; python/fathom makes it pleasant.
#include <nanobind/nanobind.h>

#include "python/bind.h"
#include "python/errors.h"

NB_MODULE(_core, module) {
  module.doc() = "The engine of Fathom. Use the package fathom instead.";
  module.attr("version") = FATHOM_VERSION;
  fathom::python::bind_errors();
  fathom::python::bind_reports(module);
  fathom::python::bind_tables(module);
  fathom::python::bind_sessions(module);
}
