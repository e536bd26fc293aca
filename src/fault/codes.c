#include <rondo/status.h>

const char *rondo_code_name(rondo_code code) {
    switch (code) {
    case RONDO_CODE_OK: return "OK";
#define RDO_CODE_NAME(name, number, text) case RONDO_##name: return #name;
        RONDO_CODES(RDO_CODE_NAME)
#undef RDO_CODE_NAME
    }
    return "UNKNOWN";
}

const char *rondo_code_text(rondo_code code) {
    switch (code) {
    case RONDO_CODE_OK: return "success";
#define RDO_CODE_TEXT(name, number, text) case RONDO_##name: return text;
        RONDO_CODES(RDO_CODE_TEXT)
#undef RDO_CODE_TEXT
    }
    return "no such code";
}
