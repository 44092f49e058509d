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

add_library(isal INTERFACE)
target_include_directories(isal SYSTEM INTERFACE "${FATHOM_SOURCES}/libisal/installed")
target_link_libraries(isal INTERFACE "${FATHOM_SOURCES}/libisal/bin/isa-l.a")

find_library(ZSTD_ARCHIVE NAMES libzstd.a REQUIRED)
find_path(ZSTD_INCLUDE zstd.h REQUIRED)
add_library(zstd_static INTERFACE)
target_include_directories(zstd_static SYSTEM INTERFACE "${ZSTD_INCLUDE}")
target_link_libraries(zstd_static INTERFACE "${ZSTD_ARCHIVE}")

find_path(FMT_INCLUDE fmt/format.h REQUIRED)
add_library(fmt_headers INTERFACE)
target_include_directories(fmt_headers SYSTEM INTERFACE "${FMT_INCLUDE}")
target_compile_definitions(fmt_headers INTERFACE FMT_HEADER_ONLY=1)

find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
add_library(cli11_headers INTERFACE)
target_include_directories(cli11_headers SYSTEM INTERFACE "${CLI11_INCLUDE}")
