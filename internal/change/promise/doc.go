// Package promise computes which promises of a site a change weakens, from the
// value of each setting before the change and after it.
//
// It is the one place for this: kinds of change use it, and no remedy, proposer
// or user can declare a promise kept. A setting without an entry weakens every
// promise. An entry without rules has a sentence with the reason why every value of
// the setting keeps every promise; a test holds each entry to one of the two.
//
// The package is pure: it reads no file and no server.
//
//	database.go     variables of MariaDB and MySQL
//	kernel.go       kernel variables and limits of processes
//	nginx.go        directives of nginx
//	environment.go  environment variables and connection parameters of apps
//	answer.go       answers that clients or nginx keep
//	act.go          acts whose effect is not a setting
package promise
