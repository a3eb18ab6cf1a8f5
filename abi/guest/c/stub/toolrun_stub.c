/* The imports of toolrun.h as ordinary functions over one host in memory. */
#include "toolrun_stub.h"

#include <stdlib.h>
#include <string.h>

enum { STORES = 64 };

typedef struct {
    toolrun_text name, content;
} store;

typedef struct {
    store stores[STORES];
    size_t count;
} contents;

static struct {
    contents kept;
    toolrun_text input, context, result;
    toolrun_text output, changed_context, error;
    toolrun_buffer logs;
    toolrun_fault refuse;
    const char *refuse_code;
} host;

/* keep copies a text, since a plug-in may reuse its memory. */
static toolrun_text keep(const void *ptr, size_t len) {
    char *copy = toolrun_alloc(len);
    if (len > 0) {
        memcpy(copy, ptr, len);
    }
    return toolrun_make_text(copy, len);
}

/* ---- Functions for tests ---- */

void toolrun_stub_reset(void) { memset(&host, 0, sizeof host); }

int32_t toolrun_stub_run(int32_t (*entry)(void), toolrun_text input, toolrun_text context) {
    contents before = host.kept;
    host.input = input;
    host.context = context;
    host.output = host.changed_context = host.error = TOOLRUN_ABSENT;
    host.result = TOOLRUN_TEXT("");
    memset(&host.logs, 0, sizeof host.logs);
    int32_t result = entry();
    if (result != 0) {
        host.kept = before;
    }
    return result;
}

toolrun_text toolrun_stub_output(void) { return host.output; }
toolrun_text toolrun_stub_changed_context(void) { return host.changed_context; }
toolrun_text toolrun_stub_error(void) { return host.error; }
toolrun_text toolrun_stub_logs(void) { return host.logs.text; }

void toolrun_stub_refuse(toolrun_fault fault, const char *code) {
    host.refuse = fault;
    host.refuse_code = code;
}

static store *find(toolrun_text name) {
    for (size_t i = 0; i < host.kept.count; i++) {
        if (toolrun_equal(host.kept.stores[i].name, name)) {
            return &host.kept.stores[i];
        }
    }
    return NULL;
}

toolrun_text toolrun_stub_content(toolrun_text name) {
    store *found = find(name);
    return found != NULL ? found->content : TOOLRUN_ABSENT;
}

void toolrun_stub_set(toolrun_text name, toolrun_text content) {
    store *found = find(name);
    if (found == NULL) {
        if (host.kept.count == STORES) {
            abort();
        }
        found = &host.kept.stores[host.kept.count++];
        found->name = keep(name.ptr, name.len);
    }
    found->content = content.ptr != NULL ? keep(content.ptr, content.len) : TOOLRUN_ABSENT;
}

/* ---- Merging (RFC 7396) ---- */

static bool is_object(toolrun_text json) { return json.len > 0 && json.ptr[0] == '{'; }

static toolrun_text merge(toolrun_text target, toolrun_text patch);

static void put_member(toolrun_buffer *out, toolrun_text name, toolrun_text value) {
    toolrun_put(out, out->text.len > 1 ? TOOLRUN_TEXT(",") : TOOLRUN_TEXT(""));
    toolrun_put(out, name);
    TOOLRUN_PUT(out, ":");
    toolrun_put(out, value);
}

static toolrun_text merge(toolrun_text target, toolrun_text patch) {
    if (!is_object(patch)) {
        return patch;
    }
    toolrun_buffer out = {0};
    TOOLRUN_PUT(&out, "{");
    toolrun_walk old = toolrun_walk_of(is_object(target) ? target : TOOLRUN_ABSENT);
    while (toolrun_next(&old)) {
        toolrun_text change = toolrun_member(patch, toolrun_string(old.name));
        if (change.ptr == NULL || !toolrun_is_null(change)) {
            put_member(&out, old.name, change.ptr != NULL ? merge(old.value, change) : old.value);
        }
    }
    toolrun_walk added = toolrun_walk_of(patch);
    while (toolrun_next(&added)) {
        bool known = is_object(target) && toolrun_member(target, toolrun_string(added.name)).ptr != NULL;
        if (!known && !toolrun_is_null(added.value)) {
            put_member(&out, added.name, merge(TOOLRUN_ABSENT, added.value));
        }
    }
    TOOLRUN_PUT(&out, "}");
    return out.text;
}

/* ---- The imports ---- */

static int32_t copy(toolrun_text from, void *to, uint32_t offset, uint32_t len) {
    if (offset >= from.len || len == 0) {
        return 0;
    }
    size_t left = from.len - offset;
    size_t size = len < left ? len : left;
    memcpy(to, from.ptr + offset, size);
    return (int32_t)size;
}

int32_t toolrun_input_len(void) { return (int32_t)host.input.len; }
int32_t toolrun_context_len(void) { return (int32_t)host.context.len; }
int32_t toolrun_result_len(void) { return (int32_t)host.result.len; }
int32_t toolrun_input_read(void *to, uint32_t offset, uint32_t len) { return copy(host.input, to, offset, len); }
int32_t toolrun_context_read(void *to, uint32_t offset, uint32_t len) { return copy(host.context, to, offset, len); }
int32_t toolrun_result_read(void *to, uint32_t offset, uint32_t len) { return copy(host.result, to, offset, len); }

static int32_t replace(toolrun_text *what, const void *ptr, uint32_t len) {
    *what = keep(ptr, len);
    return 0;
}

int32_t toolrun_output_write(const void *ptr, uint32_t len) { return replace(&host.output, ptr, len); }
int32_t toolrun_context_write(const void *ptr, uint32_t len) { return replace(&host.changed_context, ptr, len); }
int32_t toolrun_error_write(const void *ptr, uint32_t len) { return replace(&host.error, ptr, len); }

int32_t toolrun_log_write(int32_t level, const void *ptr, uint32_t len) {
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    if (level < 0 || level > 3) {
        return -TOOLRUN_INVALID_ARGUMENT;
    }
    toolrun_put(&host.logs, toolrun_text_of(levels[level]));
    TOOLRUN_PUT(&host.logs, ": ");
    toolrun_put(&host.logs, toolrun_make_text(ptr, len));
    TOOLRUN_PUT(&host.logs, "\n");
    return 0;
}

/* refused returns the fault that the test requested for this call, or 0. */
static int32_t refused(const char *op, toolrun_text name) {
    int32_t number = -(int32_t)host.refuse;
    if (number == 0) {
        return 0;
    }
    toolrun_buffer reply = {0};
    TOOLRUN_PUT(&reply, "{\"code\":");
    toolrun_put_string(&reply, toolrun_text_of(host.refuse_code));
    TOOLRUN_PUT(&reply, ",\"message\":\"requested by the test\",\"op\":");
    toolrun_put_string(&reply, toolrun_text_of(op));
    TOOLRUN_PUT(&reply, ",\"store\":");
    toolrun_put_string(&reply, name);
    TOOLRUN_PUT(&reply, ",\"id\":\"1\"}");
    host.result = reply.text;
    host.refuse = (toolrun_fault)0;
    return number;
}

static int32_t reply(toolrun_text json) {
    host.result = json;
    return (int32_t)json.len;
}

static int32_t get_content(toolrun_text name) {
    toolrun_text content = toolrun_stub_content(name);
    return reply(content.ptr != NULL ? content : TOOLRUN_TEXT("null"));
}

static int32_t set_content(toolrun_text name, toolrun_text content, toolrun_text options) {
    if (!toolrun_is_true(toolrun_member(options, TOOLRUN_TEXT("replace")))) {
        content = merge(toolrun_stub_content(name), content);
    }
    toolrun_stub_set(name, content);
    return reply(TOOLRUN_TEXT("{\"success\":true}"));
}

static int32_t delete_content(toolrun_text name) {
    bool existed = toolrun_stub_content(name).ptr != NULL;
    if (existed) {
        toolrun_stub_set(name, TOOLRUN_ABSENT);
    }
    return reply(existed ? TOOLRUN_TEXT("{\"success\":true,\"deleted\":true}")
                         : TOOLRUN_TEXT("{\"success\":true,\"deleted\":false}"));
}

static bool is(const char *op, const char *name) { return toolrun_equal(toolrun_text_of(op), toolrun_text_of(name)); }

/* perform performs an operation. Operations that this double does not have are unavailable. */
static int32_t perform(const char *op, const toolrun_text *args, size_t count) {
    toolrun_text name = count > 0 ? args[0] : TOOLRUN_TEXT("");
    int32_t fault = refused(op, name);
    if (fault != 0) {
        return fault;
    }
    if (is(op, "get_content")) {
        return get_content(name);
    }
    if (is(op, "set_content")) {
        return set_content(name, args[1], args[2]);
    }
    if (is(op, "delete_content")) {
        return delete_content(name);
    }
    toolrun_stub_refuse(TOOLRUN_UNAVAILABLE, "unavailable");
    return refused(op, name);
}

/* <imports>: generated by internal/bindgen */
int32_t toolrun_memory_get_content(const void *store, uint32_t store_len, const void *projection,
                                   uint32_t projection_len, const void *options, uint32_t options_len) {
    const toolrun_text args[] = {toolrun_make_text(store, store_len), toolrun_make_text(projection, projection_len),
                                 toolrun_make_text(options, options_len), TOOLRUN_ABSENT};
    return perform("get_content", args, 3);
}

int32_t toolrun_memory_set_content(const void *store, uint32_t store_len, const void *value, uint32_t value_len,
                                   const void *options, uint32_t options_len) {
    const toolrun_text args[] = {toolrun_make_text(store, store_len), toolrun_make_text(value, value_len),
                                 toolrun_make_text(options, options_len), TOOLRUN_ABSENT};
    return perform("set_content", args, 3);
}

int32_t toolrun_memory_delete_content(const void *store, uint32_t store_len, const void *options, uint32_t options_len) {
    const toolrun_text args[] = {toolrun_make_text(store, store_len), toolrun_make_text(options, options_len),
                                 TOOLRUN_ABSENT};
    return perform("delete_content", args, 2);
}

int32_t toolrun_memory_get_fact(const void *path, uint32_t path_len, const void *options, uint32_t options_len) {
    const toolrun_text args[] = {toolrun_make_text(path, path_len), toolrun_make_text(options, options_len),
                                 TOOLRUN_ABSENT};
    return perform("get_fact", args, 2);
}

int32_t toolrun_memory_set_fact(const void *path, uint32_t path_len, const void *value, uint32_t value_len,
                                const void *options, uint32_t options_len) {
    const toolrun_text args[] = {toolrun_make_text(path, path_len), toolrun_make_text(value, value_len),
                                 toolrun_make_text(options, options_len), TOOLRUN_ABSENT};
    return perform("set_fact", args, 3);
}

int32_t toolrun_memory_delete_fact(const void *path, uint32_t path_len, const void *options, uint32_t options_len) {
    const toolrun_text args[] = {toolrun_make_text(path, path_len), toolrun_make_text(options, options_len),
                                 TOOLRUN_ABSENT};
    return perform("delete_fact", args, 2);
}

int32_t toolrun_memory_list_facts(const void *prefix, uint32_t prefix_len, const void *domain, uint32_t domain_len,
                                  const void *limit, uint32_t limit_len, const void *after, uint32_t after_len) {
    const toolrun_text args[] = {toolrun_make_text(prefix, prefix_len), toolrun_make_text(domain, domain_len),
                                 toolrun_make_text(limit, limit_len), toolrun_make_text(after, after_len),
                                 TOOLRUN_ABSENT};
    return perform("list_facts", args, 4);
}

int32_t toolrun_memory_get_block(const void *name, uint32_t name_len, const void *options, uint32_t options_len) {
    const toolrun_text args[] = {toolrun_make_text(name, name_len), toolrun_make_text(options, options_len),
                                 TOOLRUN_ABSENT};
    return perform("get_block", args, 2);
}

int32_t toolrun_memory_update_block(const void *name, uint32_t name_len, const void *content, uint32_t content_len,
                                    const void *options, uint32_t options_len) {
    const toolrun_text args[] = {toolrun_make_text(name, name_len), toolrun_make_text(content, content_len),
                                 toolrun_make_text(options, options_len), TOOLRUN_ABSENT};
    return perform("update_block", args, 3);
}

int32_t toolrun_memory_delete_block(const void *name, uint32_t name_len, const void *options, uint32_t options_len) {
    const toolrun_text args[] = {toolrun_make_text(name, name_len), toolrun_make_text(options, options_len),
                                 TOOLRUN_ABSENT};
    return perform("delete_block", args, 2);
}

int32_t toolrun_memory_recall(const void *collection, uint32_t collection_len, const void *query, uint32_t query_len,
                              const void *options, uint32_t options_len) {
    const toolrun_text args[] = {toolrun_make_text(collection, collection_len), toolrun_make_text(query, query_len),
                                 toolrun_make_text(options, options_len), TOOLRUN_ABSENT};
    return perform("recall", args, 3);
}

int32_t toolrun_memory_remember(const void *collection, uint32_t collection_len, const void *content,
                                uint32_t content_len, const void *options, uint32_t options_len) {
    const toolrun_text args[] = {toolrun_make_text(collection, collection_len), toolrun_make_text(content, content_len),
                                 toolrun_make_text(options, options_len), TOOLRUN_ABSENT};
    return perform("remember", args, 3);
}

int32_t toolrun_memory_forget(const void *collection, uint32_t collection_len, const void *selector,
                              uint32_t selector_len) {
    const toolrun_text args[] = {toolrun_make_text(collection, collection_len),
                                 toolrun_make_text(selector, selector_len), TOOLRUN_ABSENT};
    return perform("forget", args, 2);
}

int32_t toolrun_imported_model_chat(const void *name, uint32_t name_len, const void *request, uint32_t request_len) {
    const toolrun_text args[] = {toolrun_make_text(name, name_len), toolrun_make_text(request, request_len),
                                 TOOLRUN_ABSENT};
    return perform("model_chat", args, 2);
}
/* </imports> */
