# Files of a target that are compiled as one: headers take most of a compiler's time, and each group reads them once.
# tools/source_groups.py says which files may stand behind one another. Groups are small, so that a change costs seconds.
#
# Files must compile alone too: tools/check_alone asks that of those that changed. The debug build has no groups.
option(FATHOM_UNITY "Compile several files as one" OFF)

find_package(Python3 COMPONENTS Interpreter)
set(unity_script "${PROJECT_SOURCE_DIR}/tools/source_groups.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${unity_script}")

# fathom_unity(<target> <limit> <source>...): groups of at most <limit> bytes.
function(fathom_unity target limit)
  if(NOT FATHOM_UNITY OR NOT Python3_EXECUTABLE)
    return()
  endif()
  execute_process(COMMAND "${Python3_EXECUTABLE}" -I -S "${unity_script}" --bytes ${limit} ${ARGN}
                  OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT lines)
    return()
  endif()
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([0-9]+) (.*)$" line "${line}")
    set_source_files_properties("${CMAKE_MATCH_2}" PROPERTIES UNITY_GROUP "${target}_${CMAKE_MATCH_1}")
  endforeach()
  # To the compiler each is an included file, where a class of that name with a member of an unnamed namespace were a fault.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
