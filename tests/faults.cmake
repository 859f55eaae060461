# Tests with a disk and an allocator that fail on demand (faults.h), a model of no cost (stub_model.h), and the program's own
# commands. Our code's allocations, streams and questions of who and when are renamed by the linker; symbols are exported, so
# that libraries meet the same disk.
set(SPOT_STUB_WRAPS spot_pipeline spot_pipeline_base spot_layout_of spot_frame_write)
set(SPOT_FAULT_WRAPS ${SPOT_STUB_WRAPS} malloc calloc realloc aligned_alloc mmap opendir fopen fdopen getpid gethostname time)
list(TRANSFORM SPOT_STUB_WRAPS PREPEND LINKER:--wrap=)
list(TRANSFORM SPOT_FAULT_WRAPS PREPEND LINKER:--wrap=)
foreach(name test_faults test_simulate)
  target_sources(${name} PRIVATE tests/faults.c tests/crash.c tests/stub_model.c
    $<TARGET_OBJECTS:commands>)
  target_link_options(${name} PRIVATE LINKER:--export-dynamic ${SPOT_FAULT_WRAPS})
endforeach()

# Ten thousand ECs at once.
target_sources(test_merge PRIVATE tests/stub_model.c)
target_link_options(test_merge PRIVATE ${SPOT_STUB_WRAPS})
