// Package xsuportal is the arena of the contest whose problem was a contest's portal: teams,
// a queue of benchmarks over gRPC, leaderboards with a freeze, questions and notifications.
// README.md has its rules and their sources. package pb has the messages.
package xsuportal

//go:generate sh generate.sh
