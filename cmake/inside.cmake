# What runs inside the user's program (src/capture/{inside,memory,nvtx}): libraries for others to link or load, which
# bring no dependency along.
#   fathom_sdk     libfathom.a         the C++ SDK, include/fathom
#   fathom_memory  libfathom_memory.a  counts malloc and operator new; an option beside it
#   fathom_nvtx    libfathom_nvtx.so   through NVTX_INJECTION64_PATH; needs the headers of NVTX 3
set(capture "${PROJECT_SOURCE_DIR}/src/capture")

file(GLOB sources CONFIGURE_DEPENDS "${capture}/inside/*.cc")
list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
# The wire room's writer, compiled in.
foreach(file IN ITEMS block file writer)
  list(APPEND sources "${PROJECT_SOURCE_DIR}/src/wire/${file}.cc")
endforeach()

# Objects first: the injection is made of the same.
add_library(fathom_inside OBJECT ${sources})
target_link_libraries(fathom_inside PUBLIC fathom_options)
add_library(fathom_sdk STATIC $<TARGET_OBJECTS:fathom_inside>)
target_include_directories(
  fathom_sdk PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(fathom_sdk PUBLIC Threads::Threads)
set_target_properties(fathom_sdk PROPERTIES OUTPUT_NAME fathom EXPORT_NAME sdk)

include(GNUInstallDirs)
install(TARGETS fathom_sdk EXPORT fathom ARCHIVE)

# fathom_inside_tests(): src/capture/{inside,memory,nvtx}/*_test.cc, and the programs that they run.
function(fathom_inside_tests)
  set(tests "")
  file(GLOB tests CONFIGURE_DEPENDS "${capture}/inside/*_test.cc")
  add_executable(sdk_program "${PROJECT_SOURCE_DIR}/tests/programs/sdk_program.cc")
  target_link_libraries(sdk_program PRIVATE fathom_options fathom_sdk)
  fathom_test(inside_test SOURCES ${tests} "${PROJECT_SOURCE_DIR}/tests/support/recorded.cc" LIBS fathom_sdk
                                                                                              fathom_wire)
  target_compile_definitions(inside_test PRIVATE FATHOM_PROGRAMS="${PROJECT_BINARY_DIR}")
  add_dependencies(inside_test sdk_program)
endfunction()
