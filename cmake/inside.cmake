# What runs inside the user's program beside the SDK (cmake/sdk.cmake): what programs load.
#   fathom_nvtx    libfathom_nvtx.so   through NVTX_INJECTION64_PATH; needs the headers of NVTX 3
#   fathom_python  libfathom_python.so by the Python hook, as a module; needs no headers of Python
# fathom_loaded_library(<name> <source>...): a library that the running program loads, with the recorder in it. Its few
# thread-local variables lie in each thread's own memory from the start: else the loader would allocate them at a thread's
# first use, and end the program where there is no memory.
function(fathom_loaded_library name)
  if(NOT TARGET fathom_inside_loaded)
    get_target_property(recorder fathom_inside SOURCES)
    add_library(fathom_inside_loaded OBJECT ${recorder})
    target_link_libraries(fathom_inside_loaded PRIVATE fathom_options)
    target_compile_options(fathom_inside_loaded PRIVATE -ftls-model=initial-exec)
  endif()
  add_library(${name} MODULE ${ARGN} $<TARGET_OBJECTS:fathom_inside_loaded>)
  target_link_libraries(${name} PRIVATE fathom_options ${CMAKE_DL_LIBS})
  target_compile_options(${name} PRIVATE -ftls-model=initial-exec)
  fathom_unity(${name} 40000 ${ARGN})
endfunction()

# NVTX 3: of an installed CUDA toolkit, of the PyPI package nvidia-nvtx in any Python at hand, or where it was put.
set(FATHOM_NVTX "" CACHE PATH "The folder that holds nvtx3/nvToolsExt.h")
file(GLOB nvtx_places "${PROJECT_SOURCE_DIR}/build/nvtx/lib/python3*/site-packages/nvidia/*/include"
     "${PROJECT_SOURCE_DIR}/build/torch/lib/python3*/site-packages/nvidia/*/include"
     /usr/lib/python3/dist-packages/nvidia/*/include /usr/local/lib/python3*/dist-packages/nvidia/*/include)
find_path(NVTX_INCLUDE nvtx3/nvToolsExt.h
          HINTS "${FATHOM_NVTX}" ENV CUDA_HOME ENV CUDA_PATH
          PATHS /usr/local/cuda ${nvtx_places} PATH_SUFFIXES include targets/x86_64-linux/include
          NO_CMAKE_FIND_ROOT_PATH) # headers are the same for each processor
if(NVTX_INCLUDE)
  file(GLOB sources CONFIGURE_DEPENDS "${capture}/nvtx/*.cc")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  fathom_loaded_library(fathom_nvtx ${sources})
  target_include_directories(fathom_nvtx SYSTEM PRIVATE "${NVTX_INCLUDE}")
  target_link_options(fathom_nvtx PRIVATE "LINKER:--version-script=${capture}/nvtx/exports.map")
  set_property(TARGET fathom_nvtx APPEND PROPERTY LINK_DEPENDS "${capture}/nvtx/exports.map")
  fathom_portable(fathom_nvtx)
  install(TARGETS fathom_nvtx LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/fathom")
else()
  message(STATUS "No headers of NVTX 3 (pip install nvidia-nvtx, or -DFATHOM_NVTX=folder): libfathom_nvtx.so is left out")
endif()

# CPython's own names are declared by hand and found in the program that loads it. Neither exceptions nor what the C++ library
# has at run time: it is in every process of a Python program.
if(NOT FATHOM_SANITIZE) # a sanitizer's library must be loaded before the interpreter
  file(GLOB sources CONFIGURE_DEPENDS "${capture}/python/*.cc")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  add_library(fathom_python MODULE ${sources})
  target_link_libraries(fathom_python PRIVATE fathom_options ${CMAKE_DL_LIBS})
  target_compile_options(fathom_python PRIVATE -ftls-model=initial-exec -fno-exceptions -fno-rtti -fno-threadsafe-statics)
  target_link_options(fathom_python PRIVATE "LINKER:--version-script=${capture}/python/exports.map")
  set_property(TARGET fathom_python APPEND PROPERTY LINK_DEPENDS "${capture}/python/exports.map")
  fathom_unity(fathom_python 40000 ${sources})
  fathom_portable(fathom_python)
  install(TARGETS fathom_python LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/fathom")
endif()

include(cuda)

# The binary carries what `fathom run` hands to programs. Not what needs a sanitizer's library, which must be loaded first.
set(carried "")
if(TARGET fathom_nvtx AND NOT FATHOM_SANITIZE)
  list(APPEND carried fathom_nvtx)
endif()
if(TARGET fathom_cuda AND NOT FATHOM_SANITIZE)
  list(APPEND carried fathom_cuda)
endif()
if(TARGET fathom_python)
  list(APPEND carried fathom_python)
endif()
set(carried_files ${carried})
list(TRANSFORM carried_files REPLACE "(.+)" "$<TARGET_FILE:\\1>")
add_custom_command(
  OUTPUT "${PROJECT_BINARY_DIR}/carried_libraries.cc"
  COMMAND "${CMAKE_COMMAND}" "-DLIBRARIES=${carried_files}" "-DSTRIP=${CMAKE_STRIP}"
          "-DFOLDER=${PROJECT_BINARY_DIR}/carried" "-DOUTPUT=${PROJECT_BINARY_DIR}/carried_libraries.cc" -P
          "${PROJECT_SOURCE_DIR}/cmake/carry.cmake"
  DEPENDS "${PROJECT_SOURCE_DIR}/cmake/carry.cmake" ${carried}
  COMMENT "Embedding the libraries that programs load"
  VERBATIM)
target_sources(fathom_capture PRIVATE "${PROJECT_BINARY_DIR}/carried_libraries.cc")

# fathom_starved_program(<name> [LIBC]): tests/programs/<name>.cc with a malloc that fails on demand; with LIBC it is what
# the counting malloc calls that fails.
function(fathom_starved_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LIBC" "" "")
  set(programs "${PROJECT_SOURCE_DIR}/tests/programs")
  set(allocator "${programs}/starving_malloc.cc")
  if(arg_LIBC)
    set(allocator "${programs}/starving_libc.cc")
  endif()
  add_executable(${name} "${programs}/${name}.cc" "${programs}/starving.cc" "${allocator}")
  target_link_libraries(${name} PRIVATE fathom_options ${CMAKE_DL_LIBS})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  # Libraries that it loads look for its starving_fed().
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
endfunction()

# fathom_sdk_headers(): each public header compiles alone, by the older standard that the SDK promises.
function(fathom_sdk_headers)
  file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/fathom/*.h")
  set(alone "")
  foreach(header IN LISTS headers)
    get_filename_component(name "${header}" NAME_WE)
    set(source "${PROJECT_BINARY_DIR}/generated/headers/${name}.cc")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include <fathom/${name}.h>\n#include <fathom/${name}.h>\n")
    list(APPEND alone "${source}")
  endforeach()
  add_library(sdk_headers OBJECT ${alone})
  target_include_directories(sdk_headers PRIVATE "${PROJECT_SOURCE_DIR}/include")
  target_compile_options(sdk_headers PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
  set_target_properties(sdk_headers PROPERTIES CXX_STANDARD 17)
endfunction()

# fathom_inside_tests(): src/capture/{inside,memory,nvtx}/*_test.cc, and the programs that they run.
function(fathom_inside_tests)
  set(tests "")
  file(GLOB tests CONFIGURE_DEPENDS "${capture}/inside/*_test.cc")
  set(helpers "${PROJECT_SOURCE_DIR}/tests/programs/recorded.cc")
  if(FATHOM_SANITIZE)
    # malloc of sanitizers does not run out.
    list(FILTER tests EXCLUDE REGEX "/starved_test\\.cc$")
  else()
    fathom_starved_program(starved_sdk)
    target_link_libraries(starved_sdk PRIVATE fathom_sdk)
    fathom_starved_program(starved_memory LIBC)
    target_link_libraries(starved_memory PRIVATE fathom_memory)
    fathom_starved_program(starved_python)
    foreach(file IN ITEMS profile line_profile line_table line_timeline memory_limit call_log)
      target_sources(starved_python PRIVATE "${capture}/python/${file}.cc")
    endforeach()
    list(APPEND helpers "${PROJECT_SOURCE_DIR}/tests/programs/starved.cc")
  endif()
  add_executable(sdk_program "${PROJECT_SOURCE_DIR}/tests/programs/sdk_program.cc")
  target_link_libraries(sdk_program PRIVATE fathom_options fathom_sdk)
  add_executable(sdk_example "${PROJECT_SOURCE_DIR}/examples/sdk/train.cc")
  target_link_libraries(sdk_example PRIVATE fathom_options fathom_sdk)
  set(programs sdk_program sdk_example)

  if(NOT FATHOM_SANITIZE)
    fathom_sdk_headers()
  endif()
  if(TARGET fathom_nvtx)
    file(GLOB nvtx_tests CONFIGURE_DEPENDS "${capture}/nvtx/*_test.cc")
    list(APPEND tests ${nvtx_tests})
    add_executable(nvtx_program "${PROJECT_SOURCE_DIR}/tests/programs/nvtx_program.cc")
    target_link_libraries(nvtx_program PRIVATE fathom_options ${CMAKE_DL_LIBS})
    target_include_directories(nvtx_program SYSTEM PRIVATE "${NVTX_INCLUDE}")
    # NVTX calls all that an injection has by pointers of one type, which clang's sanitizer takes for a fault.
    target_compile_options(nvtx_program PRIVATE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
    list(APPEND programs nvtx_program fathom_nvtx)
    if(NOT FATHOM_SANITIZE)
      fathom_starved_program(starved_nvtx)
      target_include_directories(starved_nvtx SYSTEM PRIVATE "${NVTX_INCLUDE}")
      list(APPEND programs starved_nvtx)
    endif()
  endif()
  if(TARGET fathom_memory)
    add_executable(memory_program "${PROJECT_SOURCE_DIR}/tests/programs/memory_program.cc")
    target_link_libraries(memory_program PRIVATE fathom_options fathom_memory)
    list(APPEND programs memory_program)
    list(APPEND tests "${capture}/memory/hooks_test.cc")
  endif()
  list(APPEND tests "${capture}/python/profile_test.cc" "${capture}/python/profile.cc"
       "${capture}/python/line_profile_test.cc" "${capture}/python/line_profile.cc"
       "${capture}/python/line_table.cc" "${capture}/python/line_timeline.cc"
       "${capture}/python/memory_limit.cc" "${capture}/python/call_log.cc")
  fathom_test(inside_test SOURCES ${tests} ${helpers} LIBS fathom_sdk fathom_wire)
  target_compile_definitions(inside_test PRIVATE FATHOM_PROGRAMS="${PROJECT_BINARY_DIR}"
                                                 $<$<TARGET_EXISTS:fathom_nvtx>:FATHOM_TEST_NVTX>)
  if(TARGET starved_sdk)
    list(APPEND programs starved_sdk starved_memory starved_python)
  endif()
  add_dependencies(inside_test ${programs})
endfunction()
