/* Tests the tool natively, with the test double of the host. */
#include <stdio.h>

#include "toolrun.h"
#include "toolrun_stub.h"

TOOLRUN_ENTRY(toolrun_run);

static int failed;

static void expect(const char *flags, const char *context, const char *want) {
    toolrun_stub_reset();
    if (flags != NULL) {
        toolrun_stub_set(TOOLRUN_TEXT("featureFlags"), toolrun_text_of(flags));
    }
    int32_t result = toolrun_stub_run(toolrun_run, TOOLRUN_TEXT("{}"), toolrun_text_of(context));
    toolrun_text got = toolrun_stub_output();
    if (result != 0 || !toolrun_equal(got, toolrun_text_of(want))) {
        printf("with %s, %s the run returned %d, %.*s; want %s\n", flags != NULL ? flags : "no flags", context, (int)result,
               (int)got.len, got.ptr != NULL ? got.ptr : "", want);
        failed++;
    }
}

int main(void) {
    const char *flags = "{\"new_checkout\":{\"rollout\":25},\"dark_mode\":{\"rollout\":1e2},\"beta\":{\"rollout\":0}}";
    expect(NULL, "{\"userId\":\"ann\"}", "{\"enabled\":[]}");
    expect(flags, "{\"userId\":\"ann\"}", "{\"enabled\":[\"dark_mode\",\"new_checkout\"]}");
    expect(flags, "{\"userId\":\"bob\"}", "{\"enabled\":[\"dark_mode\"]}");
    expect(flags, "{\"userId\":null}", "{\"enabled\":[\"dark_mode\"]}");

    toolrun_stub_refuse(TOOLRUN_UNAVAILABLE, "unavailable");
    if (toolrun_stub_run(toolrun_run, TOOLRUN_TEXT("{}"), TOOLRUN_TEXT("{}")) == 0) {
        printf("the run succeeded without memory\n");
        failed++;
    }
    return failed;
}
