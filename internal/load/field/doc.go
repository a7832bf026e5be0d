// Package field runs benchmarks of a site, observes the site during the runs, and
// restarts its services. A search needs nothing else of a site, of whatever sort.
//
// It compares no runs and plans no changes.
//
//  1. A Subject is the site: its services, how to restart them, and which of them
//     ended unexpectedly.
//  2. A Loader sends the load: the scenario of an arena, or another benchmarker.
//  3. A Field combines both with a history. Run makes any run, Bench a run of a
//     search, Observe a run with every sensor on. Rehearse kills all services and
//     starts them in the worst order.
package field
