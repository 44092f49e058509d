// What may be recorded on this machine. The program does the recording (python/fathom/_record.py):
// a module has no sockets, and holds no signals of a process that is not its own.
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "capture/doctor/checks.h"
#include "python/bind.h"
#include "record/doctor.h"

namespace fathom::python {
namespace {

namespace nb = nanobind;

std::vector<capture::Check> doctor() {
  const nb::gil_scoped_release release;
  return record::doctor_checks();
}

}  // namespace

void bind_record(nb::module_& module) {
  using capture::Check;
  nb::class_<Check>(module, "Check", "One thing that decides what may be recorded here.")
      .def_ro("section", &Check::section, "GPU, Telemetry, Python …")
      .def_ro("what", &Check::what)
      .def_prop_ro(
          "state", [](const Check& check) { return std::string(to_string(check.state)); },
          "ok, limited, missing, or info: neither good nor bad.")
      .def_ro("detail", &Check::detail, "What was found.")
      .def_ro("lost", &Check::lost, "What cannot be recorded in consequence, or empty.")
      .def_ro("remedy", &Check::remedy, "What would allow it, or empty.");
  module.def("doctor", doctor, "The checks of `fathom doctor`.");
}

}  // namespace fathom::python
