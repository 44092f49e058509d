# Headers that nearly every file reads, compiled once: 85 000 lines of the standard library, and GoogleTest's in tests.
# Of the 2.7 s that g++ takes for a file under the sanitizers they are 1 s.
#
# Files must compile without it: a header that a file forgot comes to light in the debug build, which has none (it is
# also what clang-tidy reads), and for what is no test in the release build. There rooms have none, so that the wheel,
# which is built in another folder, gets its objects from ccache.
option(FATHOM_PRECOMPILED "Precompile the standard library's headers for tests and for what has sanitizers" ON)

set(precompiled_std
    algorithm array charconv chrono cmath cstdint cstring filesystem fstream functional map memory mutex optional set
    span string string_view thread tuple unordered_map utility variant vector)
list(TRANSFORM precompiled_std REPLACE "(.+)" "<\\1>")

# fathom_precompile(<set> <options> <mode> [<header>...]): for targets compiled as <options> and -f<mode> tell, which is
# PIC for libraries and PIE for executables. fathom_use_precompiled(<target> <set>) gives it to one.
function(fathom_precompile set options mode)
  if(NOT FATHOM_PRECOMPILED OR FATHOM_FUZZ OR (CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT FATHOM_SANITIZE))
    return()
  endif()
  set(source "${PROJECT_BINARY_DIR}/generated/precompiled_${set}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(fathom_precompiled_${set} OBJECT EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(fathom_precompiled_${set} PRIVATE ${options})
  target_compile_options(fathom_precompiled_${set} PRIVATE -f${mode})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Equal headers, equal files: so that a compiler cache knows them again.
    target_compile_options(fathom_precompiled_${set} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  target_precompile_headers(fathom_precompiled_${set} PRIVATE ${precompiled_std} ${ARGN})
endfunction()

function(fathom_use_precompiled target set)
  if(TARGET fathom_precompiled_${set})
    target_precompile_headers(${target} REUSE_FROM fathom_precompiled_${set})
  endif()
endfunction()
