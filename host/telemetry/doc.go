// Package telemetry tells operators what hosts do: metrics that Prometheus scrapes, traces for an OpenTelemetry
// collector, and one log line a run.
//
// One [Telemetry] serves a process. Each host.Host gets an Observer of it, and an HTTP server goes through its HTTP.
// Labels are apps, tools, codes and the like, which the platform declares: never a user, a session, a run or anything
// that a caller makes up, so a million users need as many series as one. Traces and log lines have run ids too, and
// still no user and no content.
package telemetry
