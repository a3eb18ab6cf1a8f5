// Package telemetry exports what hosts do: metrics for Prometheus, traces for an OpenTelemetry
// collector, and one log line per run.
//
// One [Telemetry] serves a process. Each host.Host gets an Observer from it, and an HTTP server
// wraps its handler with HTTP. Labels are apps, tools, codes and other values that the platform
// declares, never a user, a session, a run or any value that a caller chooses; the number of series
// does not depend on the number of users. Only separate metrics have tenants as labels, and only as
// many as [Options] allow. Traces and log lines also contain run ids and the tenant, and log lines
// the actor that started the run. Neither contains end users or content.
package telemetry
