# rondo_sanitizers: what RONDO_SANITIZE and RONDO_COVERAGE add to compiling and linking.
add_library(rondo_sanitizers INTERFACE)
if(RONDO_SANITIZE)
    list(JOIN RONDO_SANITIZE "," sanitizer_list)
    target_compile_options(rondo_sanitizers INTERFACE
        -fsanitize=${sanitizer_list} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(rondo_sanitizers INTERFACE -fsanitize=${sanitizer_list})
endif()
if(RONDO_COVERAGE)
    # Counters are atomic because worker threads run the same lines at once. RDO_COVERAGE lets checks that
    # cannot fail leave the branch counts.
    target_compile_options(rondo_sanitizers INTERFACE --coverage -fprofile-update=atomic)
    target_compile_definitions(rondo_sanitizers INTERFACE RDO_COVERAGE=1)
    target_link_options(rondo_sanitizers INTERFACE --coverage)
endif()
