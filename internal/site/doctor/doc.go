// Package doctor checks a site's iikanji.toml against the running machine:
// every path, right, command, log format, account, configuration and, if asked
// to, the restart of each service and one run of the benchmarker. Each failure
// has a remedy.
//
// It changes nothing, except by a restart or a run that was asked for.
package doctor
