/* The tool feature_flags as a plug-in in C: it returns the features that are on for the caller. */
#include "toolrun.h"

/* add_unit adds a UTF-16 unit to a hash (FNV-1a). The tool in JavaScript hashes UTF-16, too. */
static uint32_t add_unit(uint32_t hash, uint32_t unit) { return (hash ^ unit) * 0x01000193u; }

/* add_text adds the UTF-16 units of a text. The host guarantees that the text is valid UTF-8. */
static uint32_t add_text(uint32_t hash, toolrun_text text) {
    for (size_t i = 0; i < text.len;) {
        uint32_t lead = (unsigned char)text.ptr[i++];
        uint32_t code = lead < 0xC0 ? lead : lead < 0xE0 ? lead & 0x1F : lead < 0xF0 ? lead & 0x0F : lead & 0x07;
        for (; i < text.len && ((unsigned char)text.ptr[i] & 0xC0) == 0x80; i++) {
            code = code << 6 | ((unsigned char)text.ptr[i] & 0x3F);
        }
        if (code > 0xFFFF) {
            hash = add_unit(hash, 0xD800 + ((code - 0x10000) >> 10));
            code = 0xDC00 + (code & 0x3FF);
        }
        hash = add_unit(hash, code);
    }
    return hash;
}

/* bucket assigns a user to one of 100 buckets, always to the same one: a user who has a feature keeps it when
 * its rollout increases. Each flag distributes the users differently. */
static uint32_t bucket(toolrun_text name, toolrun_text user) {
    return add_text(add_text(add_text(0x811c9dc5u, name), TOOLRUN_TEXT(":")), user) % 100;
}

static bool is_on(toolrun_text name, toolrun_text flag, toolrun_text user) {
    int64_t rollout;
    if (!toolrun_int(toolrun_member(flag, TOOLRUN_TEXT("rollout")), &rollout)) {
        return false;
    }
    return rollout == 100 || (user.ptr != NULL && (int64_t)bucket(name, user) < rollout);
}

static bool before(toolrun_text a, toolrun_text b) {
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        if (a.ptr[i] != b.ptr[i]) {
            return (unsigned char)a.ptr[i] < (unsigned char)b.ptr[i];
        }
    }
    return a.len < b.len;
}

/* enabled_flags returns the names of the flags that are on, sorted, and sets count to their number. */
static toolrun_text *enabled_flags(toolrun_text flags, toolrun_text user, size_t *count) {
    size_t all = 0;
    for (toolrun_walk walk = toolrun_walk_of(flags); toolrun_next(&walk);) {
        all++;
    }
    toolrun_text *names = toolrun_alloc(all * sizeof *names);
    *count = 0;
    for (toolrun_walk walk = toolrun_walk_of(flags); toolrun_next(&walk);) {
        toolrun_text name = toolrun_string(walk.name);
        if (!is_on(name, walk.value, user)) {
            continue;
        }
        size_t at = (*count)++;
        for (; at > 0 && before(name, names[at - 1]); at--) {
            names[at] = names[at - 1];
        }
        names[at] = name;
    }
    return names;
}

TOOLRUN_ENTRY(toolrun_run) {
    /* An operator writes the store. The grant of the tool is read-only. */
    toolrun_reply flags = toolrun_get_content(TOOLRUN_TEXT("featureFlags"), TOOLRUN_ABSENT, TOOLRUN_ABSENT);
    if (flags.fault != 0) {
        return toolrun_pass(flags);
    }
    toolrun_text user = toolrun_string(toolrun_member(toolrun_context(), TOOLRUN_TEXT("userId")));
    size_t count;
    toolrun_text *names = enabled_flags(flags.json, user, &count);

    toolrun_buffer out = {0};
    TOOLRUN_PUT(&out, "{\"enabled\":[");
    for (size_t i = 0; i < count; i++) {
        toolrun_put(&out, i > 0 ? TOOLRUN_TEXT(",") : TOOLRUN_TEXT(""));
        toolrun_put_string(&out, names[i]);
    }
    TOOLRUN_PUT(&out, "]}");
    return toolrun_output(out.text);
}
