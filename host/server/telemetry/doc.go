// Package telemetry exports the activity of hosts: metrics for Prometheus, traces for an
// OpenTelemetry collector, and one log line per run.
//
// A process uses one [Telemetry]. The Telemetry returns an Observer for each host.Host, and
// [Telemetry.HTTP] wraps the handler of an HTTP server. Labels are apps, tools, codes and other
// values that the platform declares. Labels are never users, sessions, runs or values that a caller
// chooses. Therefore, the number of series does not depend on the number of users. A few separate
// metrics have tenants as labels, and [Options] limit the number of these tenants. Traces and log
// lines also contain the tenant and run ids. Log lines contain the actor that started the run.
// Traces and log lines contain no end users and no content.
package telemetry
