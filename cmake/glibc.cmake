# The oldest glibc that what we ship starts on. Linked are libraries that hold names only, in the versions that glibc had
# then (tools/glibc_stubs), and objects that supply what came later (src/base/glibc_compat.cc, glibc_start.cc).
execute_process(
  COMMAND "${CMAKE_CXX_COMPILER}" -E -dM -x c++ -include features.h /dev/null
  OUTPUT_VARIABLE macros ERROR_QUIET)
if(NOT macros MATCHES "define __GLIBC__ 2\n" OR NOT macros MATCHES "define __GLIBC_MINOR__ ([0-9]+)\n")
  message(FATAL_ERROR "Fathom needs Linux with glibc, and ${CMAKE_CXX_COMPILER} makes programs for another C library "
                      "(on Alpine: musl). Build and run it on a distribution with glibc, in a container for example.")
endif()
set(glibc_here "2.${CMAKE_MATCH_1}")
# The headers of newer versions ask for names (__isoc23_strtol) that are not supplied.
set(oldest "2.28")
if(glibc_here VERSION_GREATER "2.36")
  set(oldest "${glibc_here}")
endif()
set(FATHOM_OLDEST_GLIBC "${oldest}" CACHE STRING "The oldest glibc that the release binary is to start on")
set(glibc_stubs "")
if(FATHOM_OLDEST_GLIBC VERSION_LESS glibc_here)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  set(glibc_stubs "${PROJECT_BINARY_DIR}/glibc_stubs")
  set(script "${PROJECT_SOURCE_DIR}/tools/glibc_stubs")
  set(names "${PROJECT_SOURCE_DIR}/tools/glibc_2.28.names")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}" "${names}")
  if("${script}" IS_NEWER_THAN "${glibc_stubs}/libc.so" OR "${names}" IS_NEWER_THAN "${glibc_stubs}/libc.so")
    execute_process(COMMAND "${Python3_EXECUTABLE}" -I -S "${script}" "${glibc_stubs}" --newest "${FATHOM_OLDEST_GLIBC}"
                            --compiler "${CMAKE_CXX_COMPILER}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
endif()

# fathom_link_glibc(<target> <type>): links the target so.
function(fathom_link_glibc target type)
  # Objects, not members of an archive: libgcc's references appear after every archive was searched.
  if(NOT TARGET fathom_glibc_compat)
    foreach(name IN ITEMS compat start)
      add_library(fathom_glibc_${name} OBJECT "${PROJECT_SOURCE_DIR}/src/base/glibc_${name}.cc")
      target_link_libraries(fathom_glibc_${name} PRIVATE fathom_options)
      if(glibc_stubs)
        target_compile_definitions(fathom_glibc_${name} PRIVATE FATHOM_OLD_GLIBC)
      endif()
    endforeach()
  endif()
  target_link_libraries(${target} PRIVATE fathom_glibc_compat)
  if(glibc_stubs)
    target_link_options(${target} PRIVATE "-L${glibc_stubs}")
    if(type STREQUAL "EXECUTABLE")
      target_link_options(${target} PRIVATE -Wl,--wrap=__libc_start_main)
      target_link_libraries(${target} PRIVATE fathom_glibc_start)
    endif()
  endif()
endfunction()
