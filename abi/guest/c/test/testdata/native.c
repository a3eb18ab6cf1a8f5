/* Tests of the readers and writers of toolrun.h, and of a plug-in with the test double, built
 * natively. A failed check prints its position, and main returns the number of failed checks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolrun.h"
#include "toolrun_stub.h"

static int failed;

#define T TOOLRUN_TEXT
#define CHECK(condition)                                          \
    do {                                                          \
        if (!(condition)) {                                       \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            failed++;                                             \
        }                                                         \
    } while (0)
#define EQUAL(got, want) check_equal((got), (want), __LINE__)

static void check_equal(toolrun_text got, toolrun_text want, int line) {
    if ((got.ptr == NULL) != (want.ptr == NULL) || !toolrun_equal(got, want)) {
        printf("%s:%d: %.*s; want %.*s\n", __FILE__, line, (int)got.len, got.ptr != NULL ? got.ptr : "", (int)want.len,
               want.ptr != NULL ? want.ptr : "");
        failed++;
    }
}

static void reads_members(void) {
    toolrun_text object = T(" {\"a\":1, \"b\" : {\"a\":\"}\"} ,\"\":[1,\"]\"],\"\\u0061b\":-1.50e1 , \"a\":\"\\\"\"} ");
    EQUAL(toolrun_member(object, T("a")), T("\"\\\"\"")); /* the last one */
    EQUAL(toolrun_member(object, T("b")), T("{\"a\":\"}\"}"));
    EQUAL(toolrun_member(object, T("")), T("[1,\"]\"]"));
    EQUAL(toolrun_member(object, T("ab")), T("-1.50e1"));
    EQUAL(toolrun_member(object, T("c")), TOOLRUN_ABSENT);
    EQUAL(toolrun_member(T("[\"a\",1]"), T("a")), TOOLRUN_ABSENT);
    EQUAL(toolrun_member(T("\"a\""), T("a")), TOOLRUN_ABSENT);
    EQUAL(toolrun_member(TOOLRUN_ABSENT, T("a")), TOOLRUN_ABSENT);
}

static void walks_arrays(void) {
    static const char *const want[] = {"1", "[2,3]", "\"],}\"", "{\"a\":[]}"};
    toolrun_walk walk = toolrun_walk_of(T(" [ 1 , [2,3] , \"],}\" , {\"a\":[]} ] "));
    for (size_t i = 0; i < 4; i++) {
        CHECK(toolrun_next(&walk));
        EQUAL(walk.name, TOOLRUN_ABSENT);
        EQUAL(walk.value, toolrun_text_of(want[i]));
    }
    CHECK(!toolrun_next(&walk));
    CHECK(!toolrun_next(&walk));
    walk = toolrun_walk_of(T("[]"));
    CHECK(!toolrun_next(&walk));
    walk = toolrun_walk_of(T("{ }"));
    CHECK(!toolrun_next(&walk));
}

static void reads_strings(void) {
    EQUAL(toolrun_string(T("\"\"")), T(""));
    EQUAL(toolrun_string(T(" \"a\" ")), T("a"));
    EQUAL(toolrun_string(T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\"")), T("\"\\/\b\f\n\r\t\0"));
    EQUAL(toolrun_string(T("\"\\u00e4\\u20AC\\ud83d\\ude00\"")), T("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"));
    EQUAL(toolrun_string(T("\"\\ud800\"")), T("\xef\xbf\xbd"));
    EQUAL(toolrun_string(T("\"\\udc00\\ud83d\\ude00\"")), T("\xef\xbf\xbd\xf0\x9f\x98\x80"));
    EQUAL(toolrun_string(T("\"\\ud800\\ud83d\\ude00\"")), T("\xef\xbf\xbd\xf0\x9f\x98\x80"));
    EQUAL(toolrun_string(T("1")), TOOLRUN_ABSENT);
    EQUAL(toolrun_string(T("[\"a\"]")), TOOLRUN_ABSENT);
    EQUAL(toolrun_string(TOOLRUN_ABSENT), TOOLRUN_ABSENT);
}

static void reads_numbers(void) {
    static const struct {
        const char *json;
        int64_t want;
    } whole[] = {
        {"0", 0}, {"-0", 0}, {" 7 ", 7}, {"-12", -12}, {"5.0", 5}, {"5e0", 5}, {"1.50e1", 15}, {"1e3", 1000},
        {"1200E-2", 12}, {"0e99", 0}, {"100", 100}, {"10203", 10203}, {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN}, {"1.0000000000000000000000000000", 1}, {"0.00000000000000000000000001e26", 1},
    };
    static const char *const refused[] = {
        "", "-", "1.", ".5", "1.5", "1e", "1e-1", "5x", "0x5", "true", "\"1\"", "9223372036854775808",
        "-9223372036854775809", "1e19", "1e999999999999999999999", "18446744073709551616",
    };
    int64_t value;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        if (!toolrun_int(toolrun_text_of(whole[i].json), &value) || value != whole[i].want) {
            printf("%s is not read as a whole number\n", whole[i].json);
            failed++;
        }
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (toolrun_int(toolrun_text_of(refused[i]), &value)) {
            printf("%s is read as a whole number\n", refused[i]);
            failed++;
        }
    }
    CHECK(!toolrun_int(TOOLRUN_ABSENT, &value));
}

static void reads_words(void) {
    CHECK(toolrun_is_true(T(" true")) && !toolrun_is_true(T("\"true\"")) && !toolrun_is_true(TOOLRUN_ABSENT));
    CHECK(toolrun_is_null(T("null ")) && toolrun_is_null(TOOLRUN_ABSENT) && !toolrun_is_null(T("\"\"")));
}

static void writes(void) {
    toolrun_buffer out = {0};
    toolrun_put_string(&out, T("\"\\/\x01\x1f\0\xc3\xa4"));
    TOOLRUN_PUT(&out, ",");
    toolrun_put_string(&out, T(""));
    TOOLRUN_PUT(&out, ",");
    toolrun_put_int(&out, INT64_MIN);
    TOOLRUN_PUT(&out, ",");
    toolrun_put_int(&out, 0);
    EQUAL(out.text, T("\"\\\"\\\\/\\u0001\\u001f\\u0000\xc3\xa4\",\"\",-9223372036854775808,0"));
    size_t before = out.text.len;
    for (int i = 0; i < 1000; i++) {
        TOOLRUN_PUT(&out, "0123456789");
    }
    CHECK(out.text.len == before + 10000 && memcmp(out.text.ptr + before + 9995, "56789", 5) == 0);
}

/* read_everything calls every reader with a copy of a text of exactly its size, so that a sanitizer
 * detects reads beyond its end. */
static void read_everything(const char *json, size_t len) {
    char *copy = malloc(len > 0 ? len : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, json, len);
    toolrun_text text = toolrun_make_text(copy, len);
    int64_t value;
    toolrun_string(text);
    toolrun_int(text, &value);
    toolrun_member(text, T("a"));
    toolrun_walk walk = toolrun_walk_of(text);
    for (size_t steps = 0; toolrun_next(&walk); steps++) {
        CHECK(steps <= len);
        toolrun_string(walk.value);
        toolrun_int(walk.value, &value);
    }
    free(copy);
}

static void survives_invalid_json(void) {
    static const char *const texts[] = {
        "{\"a\":[1,\"\\u00e4\\\"\",{\"b\":null}],\"c\":-1.5e3}", "\"\\ud83d\\ude00\"", "[,,]", "{:}", "{\"a\"}", "{\"a\":", "}]",
    };
    static const char extra[] = {'"', '\\', ']', '{', '\0', ',', 'u', (char)0xff};
    char text[64];
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        size_t len = strlen(texts[t]);
        for (size_t at = 0; at <= len; at++) {
            read_everything(texts[t], at);
            read_everything(texts[t] + at, len - at);
            for (size_t e = 0; e < sizeof extra; e++) {
                memcpy(text, texts[t], at);
                text[at] = extra[e];
                memcpy(text + at + 1, texts[t] + at, len - at);
                read_everything(text, len + 1);
            }
        }
    }
}

/* merges is an entry that merges the input into a store and returns the content. */
static TOOLRUN_ENTRY(merges) {
    toolrun_reply reply = toolrun_set_content(T("prefs"), toolrun_input(), TOOLRUN_ABSENT);
    if (reply.fault == TOOLRUN_NO_USER) {
        return toolrun_fail(T("sign in first"));
    }
    if (reply.fault != 0) {
        return toolrun_pass(reply);
    }
    toolrun_log(TOOLRUN_WARN, T("merged"));
    toolrun_set_context(toolrun_context());
    return toolrun_output(toolrun_get_content(T("prefs"), TOOLRUN_ABSENT, TOOLRUN_ABSENT).json);
}

static void runs(void) {
    toolrun_stub_reset();
    CHECK(toolrun_stub_run(merges, T("{\"a\":{\"b\":1,\"c\":null},\"d\":[1]}"), T("{\"userId\":\"ann\"}")) == 0);
    EQUAL(toolrun_stub_output(), T("{\"a\":{\"b\":1},\"d\":[1]}"));
    EQUAL(toolrun_stub_changed_context(), T("{\"userId\":\"ann\"}"));
    EQUAL(toolrun_stub_logs(), T("warn: merged\n"));
    CHECK(toolrun_stub_run(merges, T("{\"a\":{\"e\":{\"f\":null}},\"d\":null}"), T("{}")) == 0);
    EQUAL(toolrun_stub_output(), T("{\"a\":{\"b\":1,\"e\":{}}}"));
    EQUAL(toolrun_stub_error(), TOOLRUN_ABSENT);

    toolrun_stub_refuse(TOOLRUN_NO_USER, "no_user");
    CHECK(toolrun_stub_run(merges, T("{\"g\":1}"), T("{}")) != 0);
    EQUAL(toolrun_member(toolrun_stub_error(), T("message")), T("\"sign in first\""));
    EQUAL(toolrun_member(toolrun_stub_error(), T("file")), T("\"native.c\""));
    toolrun_stub_refuse(TOOLRUN_ACCESS_DENIED, "access_denied");
    CHECK(toolrun_stub_run(merges, T("{\"g\":1}"), T("{}")) != 0);
    EQUAL(toolrun_member(toolrun_stub_error(), T("code")), T("\"access_denied\""));
    EQUAL(toolrun_member(toolrun_stub_error(), T("id")), T("\"1\""));
    EQUAL(toolrun_stub_content(T("prefs")), T("{\"a\":{\"b\":1,\"e\":{}}}"));
}

/* fails is an entry that writes, deletes and then fails. */
static TOOLRUN_ENTRY(fails) {
    toolrun_set_content(T("other"), T("{\"a\":null}"), T("{\"replace\":true}"));
    EQUAL(toolrun_get_content(T("other"), TOOLRUN_ABSENT, TOOLRUN_ABSENT).json, T("{\"a\":null}"));
    EQUAL(toolrun_delete_content(T("prefs"), TOOLRUN_ABSENT).json, T("{\"success\":true,\"deleted\":true}"));
    EQUAL(toolrun_delete_content(T("prefs"), TOOLRUN_ABSENT).json, T("{\"success\":true,\"deleted\":false}"));
    EQUAL(toolrun_get_content(T("prefs"), TOOLRUN_ABSENT, TOOLRUN_ABSENT).json, T("null"));
    return toolrun_fail(T("no"));
}

/* reads_parts is an entry that reads into its own buffer. */
static TOOLRUN_ENTRY(reads_parts) {
    char part[4];
    CHECK(toolrun_input_len() == 7);
    CHECK(toolrun_input_read(part, 1, 4) == 4 && memcmp(part, "\"a\":", 4) == 0);
    CHECK(toolrun_input_read(part, 5, 4) == 2 && memcmp(part, "1}", 2) == 0);
    CHECK(toolrun_input_read(part, 7, 4) == 0 && toolrun_input_read(part, UINT32_MAX, 4) == 0);
    return 0;
}

static void reads_and_undoes(void) {
    toolrun_stub_reset();
    CHECK(toolrun_stub_run(reads_parts, T("{\"a\":1}"), T("{}")) == 0);
    EQUAL(toolrun_stub_output(), TOOLRUN_ABSENT);
    toolrun_stub_set(T("prefs"), T("{\"a\":1}"));
    CHECK(toolrun_stub_run(fails, T("{}"), T("{}")) != 0);
    EQUAL(toolrun_stub_content(T("prefs")), T("{\"a\":1}"));
    EQUAL(toolrun_stub_content(T("other")), TOOLRUN_ABSENT);
}

int main(void) {
    reads_members();
    walks_arrays();
    reads_strings();
    reads_numbers();
    reads_words();
    writes();
    survives_invalid_json();
    runs();
    reads_and_undoes();
    return failed;
}
