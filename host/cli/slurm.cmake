# slurm.cmake - the scripts of tools/slurm as C strings for `spotter sweep --submit`, which needs no file beside the program.
# CMakeLists.txt includes this file, which adds the rule; the rule runs this file with cmake -P (OUT).
set(dir ${CMAKE_CURRENT_LIST_DIR}/../../tools/slurm)
set(scripts sweep merge)
if(CMAKE_SCRIPT_MODE_FILE)
  set(code "/* made by host/cli/slurm.cmake */\n#include \"cli/submit.h\"\n")
  foreach(name ${scripts})
    file(READ ${dir}/${name}.sbatch hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(APPEND code "const char cli_${name}_sbatch[] = { ${bytes} 0 };\n")
  endforeach()
  file(WRITE ${OUT} "${code}")
  return()
endif()

add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/slurm_scripts.c
  COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_BINARY_DIR}/slurm_scripts.c -P ${CMAKE_CURRENT_LIST_DIR}/slurm.cmake
  DEPENDS ${dir}/sweep.sbatch ${dir}/merge.sbatch ${CMAKE_CURRENT_LIST_DIR}/slurm.cmake VERBATIM)
target_sources(commands PRIVATE ${CMAKE_BINARY_DIR}/slurm_scripts.c)
