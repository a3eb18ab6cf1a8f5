// Package telemetry tells operators what hosts do: metrics that Prometheus scrapes, traces for an OpenTelemetry
// collector, and one log line a run.
//
// One [Telemetry] serves a process. Each host.Host gets an Observer of it, and an HTTP server goes through its HTTP.
// Labels are apps, tools, codes and the like, which the platform declares: never a user, a session, a run or anything
// that a caller makes up, so a million users need as many series as one. Tenants are labels only of metrics of their
// own, and only as many as [Options] name. Traces and log lines have run ids and the tenant too, log lines the actor
// that asked for the run, and both still no end user and no content.
package telemetry
