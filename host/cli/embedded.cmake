# embedded.cmake - files that commands have inside, as C arrays, so that the program needs none beside it: the scripts of
# tools/slurm for `spotter sweep --submit`, config and view for `spotter demo`, texts for `spotter help`. CMakeLists.txt
# includes this file, which adds the rule; the rule runs this file with cmake -P (OUT).
set(root ${CMAKE_CURRENT_LIST_DIR}/../..)
set(names cli_sweep_sbatch cli_merge_sbatch cli_demo_config cli_demo_view cli_programs cli_slices_schema
  cli_json_schema)
set(files ${root}/tools/slurm/sweep.sbatch ${root}/tools/slurm/merge.sbatch ${root}/configs/quickstart.yaml
  ${root}/host/cli/demo.safetensors ${root}/tools/python/spotter/llms.txt ${root}/tools/python/spotter/slices.schema.json
  ${root}/tools/python/spotter/json.schema.json)
if(CMAKE_SCRIPT_MODE_FILE)
  set(code "/* made by host/cli/embedded.cmake */\n#include \"cli/embedded.h\"\n")
  foreach(name file IN ZIP_LISTS names files)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(APPEND code "const unsigned char ${name}[] = { ${bytes} 0 };\n"
      "const size_t ${name}_size = sizeof ${name} - 1;\n")
  endforeach()
  file(WRITE ${OUT} "${code}")
  return()
endif()

add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/embedded.c
  COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_BINARY_DIR}/embedded.c -P ${CMAKE_CURRENT_LIST_DIR}/embedded.cmake
  DEPENDS ${files} ${CMAKE_CURRENT_LIST_DIR}/embedded.cmake VERBATIM)
target_sources(commands PRIVATE ${CMAKE_BINARY_DIR}/embedded.c)
