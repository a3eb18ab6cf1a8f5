/* A plug-in that uses a C library together with toolrun.h. Neither may overwrite the other's memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolrun.h"

static char *volatile filled[2];

static void fill(int i, char c) {
    filled[i] = malloc(200000);
    memset(filled[i], c, 200000);
}

TOOLRUN_ENTRY(toolrun_run) {
    toolrun_text input = toolrun_input();
    fill(0, 'x');
    toolrun_text context = toolrun_context();
    fill(1, 'y');
    printf("%.1f\n", 1.5);
    char out[200];
    snprintf(out, sizeof out, "[%.*s,%.*s,\"%c%c\"]", (int)input.len, input.ptr, (int)context.len, context.ptr,
             filled[0][199999], filled[1][0]);
    return toolrun_output(toolrun_text_of(out));
}
