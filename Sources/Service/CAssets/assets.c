#include "CAssets.h"

// C23's, which clang takes in older C as well.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define EMBEDDED(name)                                                                                                         \
    struct embedded_file embedded_##name(void) { return (struct embedded_file){name, sizeof(name)}; }

static const uint8_t openapi_json[] = {
#embed "../API/Description/openapi.json"
};
EMBEDDED(openapi_json)

static const uint8_t docs_js[] = {
#embed "../API/Description/docs.js"
};
EMBEDDED(docs_js)

static const uint8_t receive_callbacks_py[] = {
#embed "../API/Description/Guides/receive_callbacks.py"
};
EMBEDDED(receive_callbacks_py)

static const uint8_t submit_once_sh[] = {
#embed "../API/Description/Guides/submit_once.sh"
};
EMBEDDED(submit_once_sh)

static const uint8_t read_errors_py[] = {
#embed "../API/Description/Guides/read_errors.py"
};
EMBEDDED(read_errors_py)

static const uint8_t sizing_py[] = {
#embed "../API/Description/Guides/sizing.py"
};
EMBEDDED(sizing_py)

static const uint8_t preview_css[] = {
#embed "../API/Preview/preview.css"
};
EMBEDDED(preview_css)

static const uint8_t preview_js[] = {
#embed "../API/Preview/preview.js"
};
EMBEDDED(preview_js)

static const uint8_t console_css[] = {
#embed "../API/Console/console.css"
};
EMBEDDED(console_css)

static const uint8_t console_js[] = {
#embed "../API/Console/console.js"
};
EMBEDDED(console_js)
