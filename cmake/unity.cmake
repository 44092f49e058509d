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

# fathom_groups_of(<variable> <argument of tools/source_groups.py>...): what it prints. That is kept beside the groups, by what
# it is made of: forty starts of Python are half of what configuring a build takes.
function(fathom_groups_of variable)
  set(made_of "${ARGN}")
  foreach(file IN ITEMS "${unity_script}" ${ARGN})
    if(IS_ABSOLUTE "${file}")
      file(SHA1 "${file}" sum)
      string(APPEND made_of " ${sum}")
    endif()
  endforeach()
  string(SHA1 name "${made_of}")
  set(kept "${PROJECT_SOURCE_DIR}/build/groups/${name}.txt")
  if(EXISTS "${kept}")
    file(READ "${kept}" lines)
  else()
    if(NOT unity_python)
      # Not the shell script that pyenv puts in its place, which takes longer than the script does.
      execute_process(COMMAND "${Python3_EXECUTABLE}" -I -S -c "import sys; print(sys.executable, end='')"
                      OUTPUT_VARIABLE python COMMAND_ERROR_IS_FATAL ANY)
      set(unity_python "${python}" CACHE INTERNAL "The interpreter behind Python3_EXECUTABLE")
    endif()
    execute_process(COMMAND "${unity_python}" -I -S "${unity_script}" ${ARGN}
                    OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    # Whole or not at all, whatever else configures or ends this.
    string(RANDOM LENGTH 12 other)
    file(WRITE "${kept}.${other}" "${lines}")
    file(RENAME "${kept}.${other}" "${kept}")
  endif()
  set(${variable} "${lines}" PARENT_SCOPE)
endfunction()

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
  fathom_groups_of(lines --files ${files} --bytes ${limit} ${ARGN})
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
