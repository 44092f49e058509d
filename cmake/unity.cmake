# Files of a target that are compiled as one: headers take most of a compiler's time, and each group reads them once.
# tools/source_groups.py says which files may stand behind one another. Groups are small, so that a change costs seconds.
#
# Files must compile alone too: tools/check_alone asks that of those that changed. The debug build has no groups.
option(FATHOM_UNITY "Compile several files as one" OFF)
option(FATHOM_LARGE_GROUPS "Four times as much in a group: less time for a whole build, more for a change of one file" OFF)

if(FATHOM_UNITY)
  find_package(Python3 COMPONENTS Interpreter)
endif()
set(unity_script "${PROJECT_SOURCE_DIR}/tools/source_groups.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${unity_script}")
if(FATHOM_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # To the compiler each file is an included one, where a class with a member of an unnamed namespace were a fault.
  target_compile_options(fathom_options INTERFACE -Wno-subobject-linkage)
endif()

# fathom_unity(<target> <limit> <source>...): puts these sources of the target into groups of at most <limit> bytes. The
# files of groups are named by what is in them and lie beside the build trees: two trees that compile one share its object.
function(fathom_unity target limit)
  if(NOT FATHOM_UNITY OR NOT Python3_EXECUTABLE)
    return()
  endif()
  set(files 8)
  if(FATHOM_LARGE_GROUPS)
    math(EXPR limit "4 * ${limit}")
    set(files 32)
  endif()
  execute_process(COMMAND "${Python3_EXECUTABLE}" -I -S "${unity_script}" --files ${files} --bytes ${limit} ${ARGN}
                  OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${lines}")
  get_target_property(sources ${target} SOURCES)
  set(numbers "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([0-9]+) (.*)$" line "${line}")
    list(APPEND numbers ${CMAKE_MATCH_1})
    # Relative, so that a compiler cache knows them again in another checkout.
    file(RELATIVE_PATH from_groups "${PROJECT_SOURCE_DIR}/build/groups" "${CMAKE_MATCH_2}")
    string(APPEND text_${CMAKE_MATCH_1} "#include \"${from_groups}\"\n")
    list(REMOVE_ITEM sources "${CMAKE_MATCH_2}")
  endforeach()
  list(REMOVE_DUPLICATES numbers)
  foreach(number IN LISTS numbers)
    string(SHA1 name "${text_${number}}")
    string(SUBSTRING "${name}" 0 16 name)
    set(group "${PROJECT_SOURCE_DIR}/build/groups/${name}.cc")
    file(CONFIGURE OUTPUT "${group}" CONTENT "${text_${number}}" @ONLY)
    list(APPEND sources "${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
endfunction()
