/* The probe executes the steps of its input and returns their results. Package abitest in ../../../abitest
 * runs it. */
#include "toolrun.h"

/* The results of the steps. */
typedef struct {
    toolrun_buffer replies;
    toolrun_text context;     /* the keys that were set */
    toolrun_reply last_fault; /* .fault is 0 before the first */
} probe;

static bool is(toolrun_text json, const char *name) {
    return toolrun_equal(toolrun_string(json), toolrun_text_of(name));
}

static toolrun_text member(toolrun_text object, const char *name) {
    return toolrun_member(object, toolrun_text_of(name));
}

static void put_member(toolrun_buffer *out, toolrun_text name, toolrun_text value) {
    toolrun_put(out, out->text.len > 1 ? TOOLRUN_TEXT(",") : TOOLRUN_TEXT(""));
    toolrun_put(out, name);
    TOOLRUN_PUT(out, ":");
    toolrun_put(out, value);
}

/* put_without copies the members of an object that another object does not have. */
static void put_without(toolrun_buffer *out, toolrun_text object, toolrun_text other) {
    toolrun_walk walk = toolrun_walk_of(object);
    while (toolrun_next(&walk)) {
        if (toolrun_member(other, toolrun_string(walk.name)).ptr == NULL) {
            put_member(out, walk.name, walk.value);
        }
    }
}

static toolrun_reply call(toolrun_text step) {
    toolrun_text name = member(step, "call");
    toolrun_text store = toolrun_string(member(step, "store"));
    toolrun_text options = member(step, "options");
    if (is(name, "get_content")) {
        return toolrun_get_content(store, member(step, "projection"), options);
    }
    if (is(name, "set_content")) {
        return toolrun_set_content(store, member(step, "value"), options);
    }
    if (is(name, "remember")) {
        return toolrun_remember(store, member(step, "value"), options);
    }
    if (is(name, "recall")) {
        return toolrun_recall(store, member(step, "value"), options);
    }
    if (is(name, "forget")) {
        return toolrun_forget(store, options);
    }
    return toolrun_delete_content(store, options);
}

/* do_call adds the reply to the replies, or the fault without its id. */
static void do_call(probe *p, toolrun_text step) {
    toolrun_reply reply = call(step);
    toolrun_put(&p->replies, p->replies.text.len > 0 ? TOOLRUN_TEXT(",") : TOOLRUN_TEXT(""));
    if (reply.fault == 0) {
        TOOLRUN_PUT(&p->replies, "{\"reply\":");
        toolrun_put(&p->replies, reply.json);
    } else {
        toolrun_buffer fault = {0};
        TOOLRUN_PUT(&fault, "{");
        put_without(&fault, reply.json, TOOLRUN_TEXT("{\"id\":0}"));
        TOOLRUN_PUT(&p->replies, "{\"fault\":");
        toolrun_put(&p->replies, fault.text);
        TOOLRUN_PUT(&p->replies, "}");
        p->last_fault = reply;
    }
    TOOLRUN_PUT(&p->replies, "}");
}

static void do_log(toolrun_text step) {
    toolrun_text level = member(step, "log");
    toolrun_level number = is(level, "debug")   ? TOOLRUN_DEBUG
                           : is(level, "warn")  ? TOOLRUN_WARN
                           : is(level, "error") ? TOOLRUN_ERROR
                                                : TOOLRUN_INFO;
    toolrun_log(number, toolrun_string(member(step, "text")));
}

static int32_t do_context(probe *p, toolrun_text keys) {
    toolrun_buffer all = {0};
    TOOLRUN_PUT(&all, "{");
    put_without(&all, p->context, keys);
    put_without(&all, keys, TOOLRUN_ABSENT);
    TOOLRUN_PUT(&all, "}");
    p->context = all.text;
    return toolrun_set_context(all.text);
}

/* do_step executes a step. The result is not 0 if the run fails with this step. */
static int32_t do_step(probe *p, toolrun_text step) {
    if (member(step, "call").ptr != NULL) {
        do_call(p, step);
        return 0;
    }
    if (member(step, "log").ptr != NULL) {
        do_log(step);
        return 0;
    }
    if (member(step, "print").ptr != NULL) {
        toolrun_log(TOOLRUN_INFO, toolrun_string(member(step, "print")));
        return 0;
    }
    if (member(step, "context").ptr != NULL) {
        return do_context(p, member(step, "context"));
    }
    if (toolrun_is_true(member(step, "pass")) && p->last_fault.fault != 0) {
        return toolrun_pass(p->last_fault);
    }
    if (member(step, "fail").ptr != NULL) {
        return toolrun_fail(toolrun_string(member(step, "fail")));
    }
    return toolrun_fail(TOOLRUN_TEXT("the probe does not know this step"));
}

TOOLRUN_ENTRY(toolrun_run) {
    probe p = {0};
    toolrun_text input = toolrun_input();
    toolrun_walk steps = toolrun_walk_of(member(input, "steps"));
    while (toolrun_next(&steps)) {
        int32_t failed = do_step(&p, steps.value);
        if (failed != 0) {
            return failed;
        }
    }
    toolrun_buffer out = {0};
    TOOLRUN_PUT(&out, "{\"replies\":[");
    toolrun_put(&out, p.replies.text);
    TOOLRUN_PUT(&out, "],\"input\":");
    toolrun_put(&out, input);
    TOOLRUN_PUT(&out, ",\"context\":");
    toolrun_put(&out, toolrun_context());
    TOOLRUN_PUT(&out, "}");
    return toolrun_output(out.text);
}
