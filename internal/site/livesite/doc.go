// Package livesite makes a field.Subject of a site that runs already and that
// iikanji did not start: it finds the processes of the services, restarts them,
// asks whether they answer, and wires configuration, source and databases for
// kinds of change.
//
//  1. Open finds every service (find.go), takes down how each runs (running.go)
//     and wires the site (wire.go).
//  2. Restart ends and starts a service in its own way (restart.go) and asks its
//     health (health.go).
//  3. Use also watches for services that end by themselves (deaths.go).
//
// The site goes on when iikanji ends.
package livesite
