/* A plug-in that asks a model. */
#include "toolrun.h"

TOOLRUN_ENTRY(toolrun_run) {
    toolrun_text request = TOOLRUN_TEXT("{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}");
    toolrun_reply answer = toolrun_model_chat(TOOLRUN_TEXT("\"local\""), request);
    if (answer.fault != 0) {
        return toolrun_pass(answer);
    }
    return toolrun_output(toolrun_member(answer.json, TOOLRUN_TEXT("text")));
}
