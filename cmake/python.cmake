# The Python module fathom._core, and beside it in the build tree a package `fathom` as the wheel has it:
# PYTHONPATH=<build>/python makes `import fathom` work without installing anything.
set(FATHOM_PYTHON_VENV "${PROJECT_SOURCE_DIR}/build/python" CACHE PATH "Where tools/setup python put its environment")
if(NOT SKBUILD AND NOT Python_EXECUTABLE)
  set(Python_EXECUTABLE "${FATHOM_PYTHON_VENV}/bin/python")
  if(NOT EXISTS "${Python_EXECUTABLE}")
    message(FATAL_ERROR "There is no Python environment in ${FATHOM_PYTHON_VENV}: run tools/setup python")
  endif()
endif()
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
# One module for CPython 3.12 and all later, where the wheel asks for it (wheel.py-api). CMake has this target from 3.26 on.
if(SKBUILD_SABI_VERSION AND NOT TARGET Python::SABIModule)
  add_library(Python::SABIModule INTERFACE IMPORTED)
  target_include_directories(Python::SABIModule INTERFACE ${Python_INCLUDE_DIRS})
endif()
execute_process(
  COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED NO_CMAKE_FIND_ROOT_PATH) # sources, for each processor

file(GLOB python_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/python/*.cc")
# nanobind's own code is compiled by its rules; its headers are not held to our warnings.
set(stable_abi "")
if(SKBUILD_SABI_VERSION)
  set(stable_abi STABLE_ABI)
endif()
nanobind_add_module(fathom_core ${stable_abi} NB_STATIC NB_SUPPRESS_WARNINGS NOMINSIZE PROTECT_STACK ${python_sources})
target_link_libraries(fathom_core PRIVATE fathom_options fathom_capture fathom_engine fathom_measure fathom_record fathom_render fathom_server)
# What is linked statically stays inside: numpy and torch bring a libstdc++ of their own.
target_link_options(fathom_core PRIVATE -Wl,--exclude-libs,ALL)
fathom_portable(fathom_core)

# The package in the build tree: links to the sources beside what is built.
set(fathom_package "${PROJECT_BINARY_DIR}/python/fathom")
set_target_properties(fathom_core PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY "${fathom_package}")
file(GLOB python_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/fathom/*.py"
     "${PROJECT_SOURCE_DIR}/python/fathom/*.pyi" "${PROJECT_SOURCE_DIR}/python/fathom/py.typed")
file(MAKE_DIRECTORY "${fathom_package}/bin")
foreach(file IN LISTS python_files)
  get_filename_component(name "${file}" NAME)
  file(CREATE_LINK "${file}" "${fathom_package}/${name}" SYMBOLIC)
endforeach()
file(CREATE_LINK "${PROJECT_BINARY_DIR}/fathom" "${fathom_package}/bin/fathom" SYMBOLIC)
# The hook is one source for `fathom run`, which carries it in the binary, and for the package.
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/python/fathom_hook/fathom_recorder"
     "${PROJECT_BINARY_DIR}/python/fathom_recorder" SYMBOLIC)

# The module's types as it tells them; a test compares them with python/fathom/_core.pyi.
add_custom_command(
  OUTPUT "${PROJECT_BINARY_DIR}/python/_core.pyi"
  COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${PROJECT_BINARY_DIR}/python" "${Python_EXECUTABLE}" -m
          nanobind.stubgen -q -m fathom._core -o "${PROJECT_BINARY_DIR}/python/_core.pyi"
  DEPENDS fathom_core
  COMMENT "Types of the Python module"
  VERBATIM)
if(NOT SKBUILD)
  add_custom_target(fathom_stub ALL DEPENDS "${PROJECT_BINARY_DIR}/python/_core.pyi")
else()
  # The wheel's rest is Python, which scikit-build-core packs by itself (pyproject.toml).
  install(TARGETS fathom_core LIBRARY DESTINATION fathom COMPONENT python)
  install(TARGETS fathom RUNTIME DESTINATION fathom/bin COMPONENT python)
  fathom_name_program(python fathom/bin/fathom "${SKBUILD_METADATA_DIR}/sboms")
endif()
