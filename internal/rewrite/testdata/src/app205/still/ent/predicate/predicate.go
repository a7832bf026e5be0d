// Package predicate is as ent generates it, for tests.
package predicate

type User func(string)
