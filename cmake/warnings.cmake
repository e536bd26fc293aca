# rondo_warnings: what all of Rondo's own code is compiled with.
add_library(rondo_warnings INTERFACE)
target_compile_options(rondo_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wconversion;-Wshadow;-Wstrict-prototypes;-Wmissing-prototypes;-Wvla>
    $<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${RONDO_WERROR}>>:-Werror>)
