// Package load holds what a search asks of a site under load, and what it gets back:
// the spec of a run, the result of a restart rehearsal, and the spec and the report of a
// comparison of answers. Package load/field does what they ask, and package proof/trial
// and package proof/tune decide what to ask for, so that neither imports the other.
package load
