# Libraries that we use but did not write: headers and static archives of the distribution's packages, and the two
# that tools/fetch_sources gets as source packages. docs/dependencies.md tells why each is used.
set(FATHOM_SOURCES "${PROJECT_SOURCE_DIR}/build/sources" CACHE PATH "Where tools/fetch_sources put its sources")
if(SKBUILD AND NOT EXISTS "${FATHOM_SOURCES}/simdjson/.complete")
  # `pip install .` is all that a user types.
  execute_process(COMMAND "${PROJECT_SOURCE_DIR}/tools/setup" build)
endif()
if(NOT EXISTS "${FATHOM_SOURCES}/libisal/.complete" OR NOT EXISTS "${FATHOM_SOURCES}/simdjson/.complete")
  message(FATAL_ERROR "The sources of simdjson and ISA-L are not in ${FATHOM_SOURCES}: run tools/setup build")
endif()

# One file, compiled here so that the sanitizers see into it; its code is not held to our warnings.
add_library(simdjson STATIC "${FATHOM_SOURCES}/simdjson/singleheader/simdjson.cpp")
target_include_directories(simdjson SYSTEM PUBLIC "${FATHOM_SOURCES}/simdjson/singleheader")
target_compile_options(simdjson PRIVATE -w -g0 $<$<CONFIG:Debug>:-O2>)
# We never switch implementations by hand, and exceptions stay on our side of the fence.
target_compile_definitions(simdjson PUBLIC SIMDJSON_EXCEPTIONS=0)
if(FATHOM_SANITIZE)
  # What it has for one kind of processor is checked as well as for all, in half of the compiler's time.
  target_compile_definitions(simdjson PUBLIC SIMDJSON_IMPLEMENTATION_ICELAKE=0 SIMDJSON_IMPLEMENTATION_WESTMERE=0)
endif()

add_library(isal INTERFACE)
target_include_directories(isal SYSTEM INTERFACE "${FATHOM_SOURCES}/libisal/installed")
target_link_libraries(isal INTERFACE "${FATHOM_SOURCES}/libisal/bin/isa-l.a")

# fathom_headers(<target> <name> <header>): a library whose headers lie in the system's folder <name>, or are the one file <name>.
function(fathom_headers target name header)
  find_path(${target}_INCLUDE "${header}" REQUIRED NO_CMAKE_FIND_ROOT_PATH)
  set(include "${${target}_INCLUDE}")
  if(CMAKE_CROSSCOMPILING)
    # Beside them lie the headers of this machine's C library.
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/headers")
    file(CREATE_LINK "${include}/${name}" "${PROJECT_BINARY_DIR}/headers/${name}" SYMBOLIC)
    set(include "${PROJECT_BINARY_DIR}/headers")
  endif()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${include}")
endfunction()
fathom_headers(zstd_static zstd.h zstd.h)
if(EXISTS "${FATHOM_SOURCES}/libzstd/.complete")
  # tools/fetch_sources made it for another processor. Without it, files can be compiled there, and nothing be linked.
  target_link_libraries(zstd_static INTERFACE "${FATHOM_SOURCES}/libzstd/lib/libzstd.a")
elseif(NOT CMAKE_CROSSCOMPILING)
  find_library(ZSTD_ARCHIVE NAMES libzstd.a REQUIRED)
  target_link_libraries(zstd_static INTERFACE "${ZSTD_ARCHIVE}")
endif()

# Headers only: the parser of HTTP requests.
fathom_headers(beast boost boost/beast/http/parser.hpp)
