# SPDX-License-Identifier: Apache-2.0
# Boards from programs of streaming messages (./gossamer smi generate), made again when a source changes.
#
#   include(path/to/gossamer/cmake/GossamerSmi.cmake)
#   gossamer_smi(gesummv SOURCES rank0.cl rank1.cl
#                [BOARDS rank0,rank1 ...] [OPTIONS --links 2 ...] [DEPENDS ports.h ...])
#   target_link_libraries(host PRIVATE gesummv)      # #include <rank0.h>
#
# DEPENDS are files that sources include, and that of --cluster. The target is a library of headers; its property
# GOSSAMER_DIR is the folder with SystemVerilog and project files. CMake 3.19 or later.
get_filename_component(_gossamer_smi_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
# A variable would be there only below the folder that includes this file; the function is known everywhere.
set_property(GLOBAL PROPERTY GOSSAMER_SMI_ROOT "${_gossamer_smi_root}")
unset(_gossamer_smi_root)

function(gossamer_smi target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;BOARDS;OPTIONS;DEPENDS")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gossamer_smi(${target}): give SOURCES, and only SOURCES, BOARDS, OPTIONS and DEPENDS")
  endif()
  get_property(root GLOBAL PROPERTY GOSSAMER_SMI_ROOT)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  set(sources "")
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE)
    list(APPEND sources "${source}")
  endforeach()
  set(others "")
  foreach(other IN LISTS arg_DEPENDS)
    get_filename_component(other "${other}" ABSOLUTE)
    list(APPEND others "${other}")
  endforeach()
  set(boards "")
  foreach(board IN LISTS arg_BOARDS)
    list(APPEND boards --board "${board}")
  endforeach()
  add_custom_command(
    OUTPUT "${folder}/design.json"
    COMMAND "${root}/gossamer" smi generate ${sources} --outdir "${folder}" ${boards} ${arg_OPTIONS}
    # What would not change is left alone; the build has to see that it ran.
    COMMAND "${CMAKE_COMMAND}" -E touch "${folder}/design.json"
    DEPENDS ${sources} ${others}
    COMMENT "Boards of ${target}"
    VERBATIM)
  add_custom_target(${target}_boards DEPENDS "${folder}/design.json")
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_boards)
  target_include_directories(${target} INTERFACE "${folder}" "${root}/include")
  set_target_properties(${target} PROPERTIES GOSSAMER_DIR "${folder}")
endfunction()
