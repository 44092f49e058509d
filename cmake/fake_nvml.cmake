# Two builds of the fake of NVIDIA's library for tests: as of a new driver, and of an old one.
foreach(kind "" _old)
  set(target fake_nvml${kind})
  add_library(${target} SHARED "${PROJECT_SOURCE_DIR}/tests/telemetry/fake_nvml.cc")
  target_link_libraries(${target} PRIVATE fathom_options)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME nvidia-ml SOVERSION 1
                                             LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${target}")
  string(TOUPPER "FATHOM_${target}" macro)
  target_compile_definitions(telemetry_test PRIVATE ${macro}="${PROJECT_BINARY_DIR}/${target}/libnvidia-ml.so.1")
  add_dependencies(telemetry_test ${target})
endforeach()
target_compile_definitions(fake_nvml_old PRIVATE FATHOM_NVML_OLD)
