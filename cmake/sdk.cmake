# The SDK: libraries for others to link, which bring no dependency along (src/capture/{inside,memory}).
#   fathom_sdk     libfathom.a         the C++ SDK, include/fathom
#   fathom_memory  libfathom_memory.a  counts malloc and operator new; an option beside it
#   fathom_benchmark  libfathom_benchmark.a  include/fathom/benchmark.h: files of the rooms measure, stats, capture and base
set(capture "${PROJECT_SOURCE_DIR}/src/capture")

file(GLOB sources CONFIGURE_DEPENDS "${capture}/inside/*.cc")
list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
# A program may link the rooms base and wire too, and takes what both have from one of them: each such file by itself.
set(inside_sources ${sources})
list(FILTER inside_sources EXCLUDE REGEX "/crc32\\.cc$")
# The wire room's writer, compiled in.
foreach(file IN ITEMS block file writer)
  list(APPEND sources "${PROJECT_SOURCE_DIR}/src/wire/${file}.cc")
endforeach()

# Objects first: the injection is made of the same.
add_library(fathom_inside OBJECT ${sources})
target_link_libraries(fathom_inside PUBLIC fathom_options)
fathom_unity(fathom_inside 40000 ${inside_sources})
add_library(fathom_sdk STATIC $<TARGET_OBJECTS:fathom_inside>)
add_library(fathom::sdk ALIAS fathom_sdk)
target_include_directories(
  fathom_sdk PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(fathom_sdk PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(fathom_sdk PROPERTIES OUTPUT_NAME fathom EXPORT_NAME sdk)

# malloc of sanitizers and ours do not go together.
if(NOT FATHOM_SANITIZE)
  add_library(fathom_memory_objects OBJECT "${capture}/memory/hooks.cc")
  target_link_libraries(fathom_memory_objects PRIVATE fathom_options)
  add_library(fathom_memory STATIC $<TARGET_OBJECTS:fathom_memory_objects>)
  add_library(fathom::memory ALIAS fathom_memory)
  target_link_libraries(fathom_memory PUBLIC fathom_sdk)
  # Nothing refers to the counting malloc by a name that only we have.
  target_link_options(fathom_memory INTERFACE "LINKER:--undefined=_ZN6fathom6memoryEv")
  set_target_properties(fathom_memory PROPERTIES EXPORT_NAME memory)
  set(memory_library fathom_memory)
endif()

# Files of the rooms, compiled in, that need no other library.
set(benchmark_sources "")
foreach(
  file IN
  ITEMS base/markup
        base/quantity_text
        base/shell_word
        capture/launcher/conditions
        capture/launcher/password_options
        capture/launcher/redact
        capture/launcher/secrets
        capture/system/argument_list
        capture/system/briefly
        capture/system/files
        capture/system/host
        capture/system/no_process
        measure/benchmark
        measure/block_timer
        measure/claim
        measure/clock_rule
        measure/conditions
        measure/function_bench
        measure/function_json
        measure/function_metrics
        measure/function_text
        measure/knee
        measure/measured
        measure/measured_json
        measure/measured_text
        measure/metric
        measure/sampling
        stats/false_discovery
        stats/median_interval
        stats/median_ratio
        stats/paired_ratio
        stats/paired_signs
        stats/precision
        stats/sample
        stats/summary
        stats/warm_up)
  list(APPEND benchmark_sources "${PROJECT_SOURCE_DIR}/src/${file}.cc")
endforeach()
add_library(fathom_benchmark_objects OBJECT ${benchmark_sources})
target_link_libraries(fathom_benchmark_objects PRIVATE fathom_options)
fathom_unity(fathom_benchmark_objects 40000 ${benchmark_sources})
add_library(fathom_benchmark STATIC $<TARGET_OBJECTS:fathom_benchmark_objects>)
add_library(fathom::benchmark ALIAS fathom_benchmark)
target_include_directories(
  fathom_benchmark PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
set_target_properties(fathom_benchmark PROPERTIES EXPORT_NAME benchmark)

include(GNUInstallDirs)
install(TARGETS fathom_sdk fathom_benchmark ${memory_library} EXPORT fathom ARCHIVE)
install(EXPORT fathom NAMESPACE fathom:: FILE fathom-targets.cmake
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/fathom")
file(WRITE "${PROJECT_BINARY_DIR}/fathom-config.cmake"
     "include(CMakeFindDependencyMacro)\nfind_dependency(Threads)\n"
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/fathom-targets.cmake\")\n")
include(CMakePackageConfigHelpers)
# Before 1.0 any version may change what programs see.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/fathom-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/fathom-config.cmake" "${PROJECT_BINARY_DIR}/fathom-config-version.cmake"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/fathom")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/fathom" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
