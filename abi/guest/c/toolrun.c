/* The calls of toolrun.h, and the memory that they use. toolrun_json.c reads and writes JSON. */
#include "toolrun.h"

#ifdef __wasm__

/* The marker: this plug-in speaks version 1. */
__attribute__((export_name("toolrun_abi_1"))) void toolrun_abi_1(void) {}

#endif

#if defined(__wasm__) && !defined(__wasi__)

enum { PAGE = 65536 };

/* Memory comes from pages of its own, beyond those the module began with. A page that was grown is zero. */
void *toolrun_alloc(size_t size) {
    static uintptr_t next, end;
    if (size > INT32_MAX) {
        __builtin_trap();
    }
    size = size > 0 ? (size + 15) & ~(size_t)15 : 16;
    if (size > end - next) {
        size_t pages = (size + PAGE - 1) / PAGE;
        size_t before = __builtin_wasm_memory_grow(0, pages);
        if (before == SIZE_MAX) {
            __builtin_trap();
        }
        if (before * PAGE != end) {
            next = before * PAGE;
        }
        end = (before + pages) * PAGE;
    }
    void *space = (void *)next;
    next += size;
    return space;
}

#else

#include <stdlib.h>

/* A C library takes all memory for its own, the pages that others grow as well (wasi-libc does with the first
 * malloc), so that there is no way beside it. */
void *toolrun_alloc(size_t size) {
    void *space = calloc(1, size > 0 ? size : 1);
    if (space == NULL) {
        __builtin_trap();
    }
    return space;
}

#endif

toolrun_text toolrun_text_of(const char *string) {
    size_t len = 0;
    while (string != NULL && string[len] != '\0') {
        len++;
    }
    return toolrun_make_text(string, len);
}

bool toolrun_equal(toolrun_text a, toolrun_text b) {
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (a.ptr[i] != b.ptr[i]) {
            return false;
        }
    }
    return true;
}

static toolrun_text read_all(int32_t len, int32_t (*read)(void *, uint32_t, uint32_t)) {
    char *space = toolrun_alloc((size_t)len);
    int32_t got = read(space, 0, (uint32_t)len);
    return toolrun_make_text(space, got > 0 ? (size_t)got : 0);
}

toolrun_text toolrun_input(void) { return read_all(toolrun_input_len(), toolrun_input_read); }

toolrun_text toolrun_context(void) { return read_all(toolrun_context_len(), toolrun_context_read); }

static toolrun_reply reply_of(int32_t answer) {
    toolrun_reply reply;
    reply.fault = answer < 0 ? -answer : 0;
    reply.json = read_all(toolrun_result_len(), toolrun_result_read);
    return reply;
}

toolrun_reply toolrun_get_content(toolrun_text store, toolrun_text projection, toolrun_text options) {
    return reply_of(toolrun_memory_get(store.ptr, (uint32_t)store.len, projection.ptr, (uint32_t)projection.len,
                                       options.ptr, (uint32_t)options.len));
}

toolrun_reply toolrun_set_content(toolrun_text store, toolrun_text value, toolrun_text options) {
    return reply_of(toolrun_memory_set(store.ptr, (uint32_t)store.len, value.ptr, (uint32_t)value.len, options.ptr,
                                       (uint32_t)options.len));
}

toolrun_reply toolrun_delete_content(toolrun_text store, toolrun_text options) {
    return reply_of(toolrun_memory_delete(store.ptr, (uint32_t)store.len, options.ptr, (uint32_t)options.len));
}

/* What an entry returns for a failed run. */
enum { FAILED = 1 };

int32_t toolrun_fail_at(toolrun_text message, const char *file, int line) {
    toolrun_buffer error = {0};
    TOOLRUN_PUT(&error, "{\"message\":");
    toolrun_put_string(&error, message);
    TOOLRUN_PUT(&error, ",\"file\":");
    toolrun_put_string(&error, toolrun_text_of(file));
    TOOLRUN_PUT(&error, ",\"line\":");
    toolrun_put_int(&error, line);
    TOOLRUN_PUT(&error, "}");
    toolrun_error_write(error.text.ptr, (uint32_t)error.text.len);
    return FAILED;
}

int32_t toolrun_pass(toolrun_reply reply) {
    toolrun_error_write(reply.json.ptr, (uint32_t)reply.json.len);
    return FAILED;
}

/* written fails the run where the host refused what was written, which else would be lost without a word. */
static int32_t written(int32_t answer, toolrun_text what) {
    if (answer >= 0) {
        return 0;
    }
    toolrun_buffer why = {0};
    toolrun_put(&why, what);
    toolrun_put(&why, answer == -TOOLRUN_OUTPUT_LIMIT ? TOOLRUN_TEXT(" is larger than the host allows")
                                                      : TOOLRUN_TEXT(" was refused by the host"));
    toolrun_error_write(why.text.ptr, (uint32_t)why.text.len);
    return FAILED;
}

int32_t toolrun_output(toolrun_text json) {
    return written(toolrun_output_write(json.ptr, (uint32_t)json.len), TOOLRUN_TEXT("the output"));
}

int32_t toolrun_set_context(toolrun_text object) {
    return written(toolrun_context_write(object.ptr, (uint32_t)object.len), TOOLRUN_TEXT("the context"));
}

void toolrun_log(toolrun_level level, toolrun_text line) {
    toolrun_log_write((int32_t)level, line.ptr, (uint32_t)line.len);
}
