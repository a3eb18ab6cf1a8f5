// Package telemetry exports the activity of hosts: metrics for Prometheus, traces for an
// OpenTelemetry collector, and one log line per run.
//
// A process uses one [Telemetry]. Each host.Host gets an Observer from it, and an HTTP server wraps
// its handler with [Telemetry.HTTP]. Labels are apps, tools, codes and other values that the
// platform declares. Labels are never users, sessions, runs or values that a caller chooses. The
// number of series therefore does not depend on the number of users. Only separate metrics have
// tenants as labels, up to the number that [Options] allow. Traces and log lines also contain the
// tenant and run ids. Log lines contain the actor that started the run. Neither contains end users
// or content.
package telemetry
