/* toolrun_stub.h - a double of the host, to test a plug-in natively, with any compiler and debugger:
 *
 *     cc -I.. -I../stub test.c main.c ../toolrun.c ../toolrun_json.c ../stub/toolrun_stub.c && ./a.out
 *
 *     toolrun_stub_set(TOOLRUN_TEXT("pageHits"), TOOLRUN_TEXT("{\"pages\":{}}"));
 *     assert(toolrun_stub_run(toolrun_run, TOOLRUN_TEXT("{\"page\":\"/\"}"), TOOLRUN_TEXT("{}")) == 0);
 *     assert(toolrun_equal(toolrun_stub_output(), TOOLRUN_TEXT("{\"hits\":1}")));
 *
 * It keeps what a plug-in stores and merges as the host does (RFC 7396), and a run that fails changes nothing. It
 * knows no schema, no grants and no lifetimes, ignores projections, and of the options knows "replace" alone.
 */
#ifndef TOOLRUN_STUB_H
#define TOOLRUN_STUB_H

#include "toolrun.h"

/* toolrun_stub_reset forgets all that was stored and said. */
void toolrun_stub_reset(void);

/* toolrun_stub_run runs an entry and answers what it answered. */
int32_t toolrun_stub_run(int32_t (*entry)(void), toolrun_text input, toolrun_text context);

/* What the last run wrote; absent where it wrote none. The logs are lines such as "info: hello". */
toolrun_text toolrun_stub_output(void);
toolrun_text toolrun_stub_changed_context(void);
toolrun_text toolrun_stub_error(void);
toolrun_text toolrun_stub_logs(void);

/* toolrun_stub_set stores a content, toolrun_stub_content tells it; absent where there is none. */
void toolrun_stub_set(toolrun_text store, toolrun_text content);
toolrun_text toolrun_stub_content(toolrun_text store);

/* toolrun_stub_refuse has the next call of memory answer a fault, such as (TOOLRUN_CONFLICT, "conflict"). */
void toolrun_stub_refuse(toolrun_fault fault, const char *code);

#endif
