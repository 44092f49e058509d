// fathom._core: the engine in Python. Holds no logic; python/fathom makes it pleasant.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "capture/launcher/redact.h"
#include "python/bind.h"
#include "python/errors.h"

NB_MODULE(_core, module) {
  module.doc() = "The engine of Fathom. Use the package fathom instead.";
  module.attr("version") = FATHOM_VERSION;
  module.def("redact_command", fathom::capture::redact_command, nanobind::arg("words"),
             "A command line without what looks like a secret.");
  fathom::python::bind_errors();
  fathom::python::bind_reports(module);
  fathom::python::bind_tables(module);
  fathom::python::bind_sessions(module);
  fathom::python::bind_bench(module);
  fathom::python::bind_record(module);
}
