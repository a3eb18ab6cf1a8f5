/* toolrun_stub.h is a test double of the host, for testing a plug-in natively with any compiler and
 * debugger:
 *
 *     cc -I.. -I../stub test.c main.c ../toolrun.c ../toolrun_json.c ../stub/toolrun_stub.c && ./a.out
 *
 *     toolrun_stub_set(TOOLRUN_TEXT("pageHits"), TOOLRUN_TEXT("{\"pages\":{}}"));
 *     assert(toolrun_stub_run(toolrun_run, TOOLRUN_TEXT("{\"page\":\"/\"}"), TOOLRUN_TEXT("{}")) == 0);
 *     assert(toolrun_equal(toolrun_stub_output(), TOOLRUN_TEXT("{\"hits\":1}")));
 *
 * The stub stores contents and merges like the host (RFC 7396), and undoes the changes of a failed
 * run. The stub has no schemas, grants or retention, and ignores projections and all options except
 * "replace".
 */
#ifndef TOOLRUN_STUB_H
#define TOOLRUN_STUB_H

#include "toolrun.h"

/* toolrun_stub_reset removes all stores and results. */
void toolrun_stub_reset(void);

/* toolrun_stub_run runs an entry and returns its result. */
int32_t toolrun_stub_run(int32_t (*entry)(void), toolrun_text input, toolrun_text context);

/* The functions below return the writes of the last run, or an absent text. The logs are lines such
 * as "info: hello". */
toolrun_text toolrun_stub_output(void);
toolrun_text toolrun_stub_changed_context(void);
toolrun_text toolrun_stub_error(void);
toolrun_text toolrun_stub_logs(void);

/* toolrun_stub_set stores a content. toolrun_stub_content returns it, or an absent text if there is
 * none. */
void toolrun_stub_set(toolrun_text store, toolrun_text content);
toolrun_text toolrun_stub_content(toolrun_text store);

/* toolrun_stub_refuse makes the next memory call fail with a fault, such as (TOOLRUN_CONFLICT,
 * "conflict"). */
void toolrun_stub_refuse(toolrun_fault fault, const char *code);

#endif
