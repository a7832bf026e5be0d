// Package hoststat reads the use of a host's resources from its /proc: CPU, memory,
// disk and network, by service, and its sockets. It changes nothing.
//
//  1. Take reads the CPU counters of every process and groups them by service:
//     a service is its root processes and all their descendants. Between
//     subtracts two readings and returns the iikanji.Usage of each service.
//  2. A Sampler turns the running totals of the whole host and of its services
//     into one Sample per interval, for live views and for the run's window.
//     A Recorder does so in the background; TSV formats the recording.
//
// A Sample costs about 3 ms of one core on a machine with a hundred processes
// and a thousand open sockets; docs/price.md has the measurement.
package hoststat
