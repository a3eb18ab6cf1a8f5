/* toolrun.h - what a plug-in written in C can do: version 1 of the toolrun ABI, which ../../ABI.md describes.
 *
 * A plug-in is one function that reads a JSON document and writes another:
 *
 *     #include "toolrun.h"
 *
 *     TOOLRUN_ENTRY(toolrun_run) {
 *         return toolrun_output(toolrun_member(toolrun_input(), TOOLRUN_TEXT("page")));
 *     }
 *
 * It needs no C library, and gets on with one. Each run has a fresh memory, so nothing is ever freed; where there
 * is no more, the run ends at once, as memory_limit. A run has one thread.
 *
 * Built for anything but WebAssembly, the imports are ordinary functions: stub/toolrun_stub.c holds a double of
 * the host, to test a plug-in with any compiler.
 */
#ifndef TOOLRUN_H
#define TOOLRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Texts ---- */

/* A toolrun_text is a piece of UTF-8 that nobody changes: a string or a JSON text. No NUL ends it. One whose ptr
 * is NULL is absent, which is not the same as empty. */
typedef struct {
    const char *ptr;
    size_t len; /* in bytes */
} toolrun_text;

/* TOOLRUN_TEXT makes a text of a string literal, toolrun_text_of of any C string; NULL makes an absent one. */
#define TOOLRUN_TEXT(literal) (toolrun_make_text("" literal, sizeof(literal) - 1))
#define TOOLRUN_ABSENT (toolrun_make_text(NULL, 0))
toolrun_text toolrun_text_of(const char *string);
bool toolrun_equal(toolrun_text a, toolrun_text b);

static inline toolrun_text toolrun_make_text(const char *ptr, size_t len) {
    toolrun_text text;
    text.ptr = ptr;
    text.len = len;
    return text;
}

/* toolrun_alloc returns zeroed memory, aligned for every type, which lasts as long as the run. It never returns
 * NULL. It may be used beside malloc. */
void *toolrun_alloc(size_t size);

/* ---- The run ---- */

/* TOOLRUN_ENTRY begins the definition of the function that is a run. It answers 0 for success. A manifest names
 * it as its entry where that is not toolrun_run. */
#ifdef __wasm__
#define TOOLRUN_ENTRY(name) __attribute__((export_name(#name))) int32_t name(void)
#else
#define TOOLRUN_ENTRY(name) int32_t name(void)
#endif

/* The input and the context of the run: JSON objects. */
toolrun_text toolrun_input(void);
toolrun_text toolrun_context(void);

/* toolrun_output sets what the run answers, a JSON text; the last one counts. It answers 0, or what an entry
 * returns for a failed run, where the output is larger than the host allows: return toolrun_output(json). */
int32_t toolrun_output(toolrun_text json);

/* toolrun_set_context sets the keys of the context that the run adds or changes: a JSON object with all of them,
 * since the last one counts. It answers as toolrun_output does. */
int32_t toolrun_set_context(toolrun_text object);

/* toolrun_fail says why the run fails, and where in the source. It answers what the entry returns then:
 * return toolrun_fail(TOOLRUN_TEXT("no such page")). */
#define toolrun_fail(message) toolrun_fail_at((message), TOOLRUN_FILE, __LINE__)
int32_t toolrun_fail_at(toolrun_text message, const char *file, int line);

/* __FILE_NAME__ is without the folders of the machine that built the plug-in. */
#ifdef __FILE_NAME__
#define TOOLRUN_FILE __FILE_NAME__
#else
#define TOOLRUN_FILE __FILE__
#endif

/* toolrun_log writes a log line. */
typedef enum { TOOLRUN_DEBUG, TOOLRUN_INFO, TOOLRUN_WARN, TOOLRUN_ERROR } toolrun_level;
void toolrun_log(toolrun_level level, toolrun_text line);

/* ---- Memory ---- */

/* A toolrun_reply is what a call of memory answers: its JSON, or a fault. */
typedef struct {
    int32_t fault;     /* 0 for none, or a number of toolrun_fault, or one of a later version */
    toolrun_text json; /* the reply; of a fault {"code", "message", ...} */
} toolrun_reply;

/* What may be left out may be TOOLRUN_ABSENT; all arguments but the store are JSON texts. The store is its name.
 * A call acts when it is made, and is undone where the run fails. */
toolrun_reply toolrun_get_content(toolrun_text store, toolrun_text projection, toolrun_text options);
toolrun_reply toolrun_set_content(toolrun_text store, toolrun_text value, toolrun_text options);
toolrun_reply toolrun_delete_content(toolrun_text store, toolrun_text options);

/* toolrun_pass fails the run with a fault as it came, so that who called the tool sees its code. It answers what
 * the entry returns then: if (reply.fault) return toolrun_pass(reply); */
int32_t toolrun_pass(toolrun_reply reply);

/* The numbers of the faults; the host's reply holds the name as "code". */
typedef enum {
    TOOLRUN_NOT_FOUND = 1,
    TOOLRUN_ACCESS_DENIED = 2,
    TOOLRUN_READ_ONLY = 3,
    TOOLRUN_SCHEMA_VIOLATION = 4,
    TOOLRUN_CONFLICT = 5,
    TOOLRUN_NO_USER = 6,
    TOOLRUN_NO_SESSION = 7,
    TOOLRUN_SESSION_ENDED = 8,
    TOOLRUN_INVALID_ARGUMENT = 9,
    TOOLRUN_TOO_LARGE = 10,
    TOOLRUN_QUOTA_EXCEEDED = 11,
    TOOLRUN_UNAVAILABLE = 12,
    TOOLRUN_TOOL_ERROR = 13,
    TOOLRUN_INPUT_INVALID = 14,
    TOOLRUN_OUTPUT_INVALID = 15,
    TOOLRUN_TIMEOUT = 16,
    TOOLRUN_MEMORY_LIMIT = 17,
    TOOLRUN_STACK_LIMIT = 18,
    TOOLRUN_OUTPUT_LIMIT = 19,
    TOOLRUN_LOG_LIMIT = 20,
    TOOLRUN_CALL_LIMIT = 21,
    TOOLRUN_SOURCE_INVALID = 22,
    TOOLRUN_ABI_MISMATCH = 23,
    TOOLRUN_CANCELLED = 24,
    TOOLRUN_INTERNAL = 25
} toolrun_fault;

/* ---- Reading JSON ----
 *
 * Values stay raw: the text of a value as it stands in the document, so that numbers keep their digits. A reader
 * never looks outside of the text that it was given; of a text that is no JSON it makes some sense or none. */

/* toolrun_member returns the raw value of a member, the last one of that name; absent where there is none. */
toolrun_text toolrun_member(toolrun_text object, toolrun_text name);

/* A toolrun_walk goes through an object or an array:
 *
 *     toolrun_walk walk = toolrun_walk_of(json);
 *     while (toolrun_next(&walk)) use(walk.name, walk.value);
 *
 * There are no steps in any other value. */
typedef struct {
    toolrun_text name;  /* the member's name, raw: with its quotes; absent in an array */
    toolrun_text value; /* raw */
    toolrun_text rest;  /* private */
} toolrun_walk;
toolrun_walk toolrun_walk_of(toolrun_text json);
bool toolrun_next(toolrun_walk *walk);

/* toolrun_string decodes a JSON string; absent where the value is none. Half a surrogate pair becomes U+FFFD. */
toolrun_text toolrun_string(toolrun_text json);

/* toolrun_int reads a number that is whole and fits, however it is written (5, 5.0, 5e0); others are refused. */
bool toolrun_int(toolrun_text json, int64_t *value);

/* toolrun_is_true and toolrun_is_null tell of a value whether it is true, and null or absent. */
bool toolrun_is_true(toolrun_text json);
bool toolrun_is_null(toolrun_text json);

/* ---- Writing JSON ---- */

/* A toolrun_buffer is a text that grows. Its zero value is empty; .text is what was written so far. */
typedef struct {
    toolrun_text text;
    char *space;     /* private */
    size_t capacity; /* private */
} toolrun_buffer;

void toolrun_put(toolrun_buffer *out, toolrun_text raw);           /* as it is */
void toolrun_put_string(toolrun_buffer *out, toolrun_text string); /* as a JSON string, in quotes */
void toolrun_put_int(toolrun_buffer *out, int64_t number);
#define TOOLRUN_PUT(out, literal) toolrun_put((out), TOOLRUN_TEXT(literal))

/* ---- The imports themselves, for who wants to read into buffers of their own ---- */

#ifdef __wasm__
#define TOOLRUN_IMPORT(module, name) __attribute__((import_module(module), import_name(name)))
#else
#define TOOLRUN_IMPORT(module, name)
#endif

/* A function that reads copies at most len bytes from offset on, and answers how many. A negative answer of any
 * of them is minus the number of a fault. */
TOOLRUN_IMPORT("toolrun", "input_len") int32_t toolrun_input_len(void);
TOOLRUN_IMPORT("toolrun", "input_read") int32_t toolrun_input_read(void *to, uint32_t offset, uint32_t len);
TOOLRUN_IMPORT("toolrun", "context_len") int32_t toolrun_context_len(void);
TOOLRUN_IMPORT("toolrun", "context_read") int32_t toolrun_context_read(void *to, uint32_t offset, uint32_t len);
TOOLRUN_IMPORT("toolrun", "result_len") int32_t toolrun_result_len(void);
TOOLRUN_IMPORT("toolrun", "result_read") int32_t toolrun_result_read(void *to, uint32_t offset, uint32_t len);
TOOLRUN_IMPORT("toolrun", "output_write") int32_t toolrun_output_write(const void *ptr, uint32_t len);
TOOLRUN_IMPORT("toolrun", "context_write") int32_t toolrun_context_write(const void *ptr, uint32_t len);
TOOLRUN_IMPORT("toolrun", "error_write") int32_t toolrun_error_write(const void *ptr, uint32_t len);
TOOLRUN_IMPORT("toolrun", "log") int32_t toolrun_log_write(int32_t level, const void *ptr, uint32_t len);
TOOLRUN_IMPORT("memory", "get_content")
int32_t toolrun_memory_get(const void *store, uint32_t store_len, const void *projection, uint32_t projection_len,
                           const void *options, uint32_t options_len);
TOOLRUN_IMPORT("memory", "set_content")
int32_t toolrun_memory_set(const void *store, uint32_t store_len, const void *value, uint32_t value_len,
                           const void *options, uint32_t options_len);
TOOLRUN_IMPORT("memory", "delete_content")
int32_t toolrun_memory_delete(const void *store, uint32_t store_len, const void *options, uint32_t options_len);

#ifdef __cplusplus
}
#endif

#endif
