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
