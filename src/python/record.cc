// What may be recorded here, and recording programs that run already. All that takes long is done
// without the interpreter's lock.
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "capture/doctor/checks.h"
#include "capture/launcher/recording.h"
#include "python/bind.h"
#include "python/errors.h"
#include "record/attach.h"
#include "record/doctor.h"

namespace fathom::python {
namespace {

namespace nb = nanobind;

std::vector<capture::Check> doctor() {
  const nb::gil_scoped_release release;
  return record::doctor_checks();
}

Duration seconds_of(const char* name, double seconds) {
  constexpr double kMost = 1e9;
  if (!(seconds > 0 && seconds <= kMost))
    throw Failure(
        {ErrorCode::invalid_argument, std::string(name) + ": a time in seconds above 0 is wanted"});
  return duration_ns(std::llround(seconds * 1e9));
}

/// Says what happens, to a function of Python. That raises: the recording goes on.
std::function<void(const std::string&)> said_to(const nb::object& say) {
  return [&say](const std::string& text) {
    const nb::gil_scoped_acquire acquire;
    try {
      say(text);
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("fathom.attach");
    }
  };
}

std::pair<std::string, std::vector<pid_t>> attach(std::vector<pid_t> pids, std::string output,
                                                  std::string name, double seconds, double timeout,
                                                  const std::string& extras,
                                                  const nb::object& progress,
                                                  const nb::object& warning) {
  record::AttachOptions options{.pids = std::move(pids),
                                .output = std::move(output),
                                .name = std::move(name),
                                .duration = seconds_of("seconds", seconds),
                                .timeout = seconds_of("timeout", timeout),
                                .with = {},
                                .version = FATHOM_VERSION};
  if (options.pids.empty())
    throw Failure({ErrorCode::invalid_argument, "attach: no process is named"});
  if (!extras.empty()) options.with = value_or_raise(capture::parse_torch_extras(extras));
  const auto warn = said_to(warning);
  Result<record::AttachOutcome> outcome = [&] {
    const nb::gil_scoped_release release;
    return record::record_attached(options,
                                   {.progress = said_to(progress), .warning = warn, .error = warn});
  }();
  record::AttachOutcome recorded = value_or_raise(std::move(outcome));
  return {std::move(recorded.folder), std::move(recorded.recorded)};
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
  module.def("attach", attach, nb::arg("pids"), nb::arg("output"), nb::arg("name"),
             nb::arg("seconds"), nb::arg("timeout"), nb::arg("extras"), nb::arg("progress"),
             nb::arg("warning"), "Records running processes: the folder, and which were recorded.");
}

}  // namespace fathom::python
