// Package telemetry exports the activity of hosts: metrics for Prometheus, traces for an
// OpenTelemetry collector, and one log line per run.
//
// A process uses one [Telemetry]. The Telemetry returns an Observer for each host.Host, and
// [Telemetry.HTTP] wraps the handler of an HTTP server. Labels are apps, tools, codes and other
// values that the platform declares. Labels are never users, sessions, runs or values that a caller
// chooses. The number of series therefore does not depend on the number of users. Tenants are
// labels of only a few separate metrics, and [Options] limit their number. Traces and log lines
// also contain the tenant and run ids. Log lines contain the actor that started the run. Traces and
// log lines contain no end users and no content.
package telemetry
