// Package field runs benchmarks of a site, watches the site while they run, and
// restarts it: everything that a search needs of a site, whatever the site is.
//
// It compares no runs and plans no changes.
//
//  1. A Subject is the site: its services, how to restart them, and what ends
//     without being asked to.
//  2. A Loader loads it: the scenario of an arena, or another benchmarker.
//  3. A Field is the two together with a history. Run makes a run of any sort,
//     Bench one of a search, Observe one with every sensor on; Rehearse kills
//     all services and starts them in the worst order.
package field
