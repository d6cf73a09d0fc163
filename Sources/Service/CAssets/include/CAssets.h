#ifndef SATCHEL_ASSETS_H
#define SATCHEL_ASSETS_H

#include <stddef.h>
#include <stdint.h>

// The API's files that are part of the executable. They lie beside what serves them, under Sources/Service/API; in Swift itself a
// literal of them took the compiler four minutes.

/// A file's content, which stays where it is as long as the process does.
struct embedded_file {
    const uint8_t *bytes;
    size_t count;
};

struct embedded_file embedded_openapi_json(void);
struct embedded_file embedded_docs_js(void);
struct embedded_file embedded_receive_callbacks_py(void);
struct embedded_file embedded_submit_once_sh(void);
struct embedded_file embedded_read_errors_py(void);
struct embedded_file embedded_sizing_py(void);
struct embedded_file embedded_preview_css(void);
struct embedded_file embedded_preview_js(void);
struct embedded_file embedded_console_css(void);
struct embedded_file embedded_console_js(void);

#endif
