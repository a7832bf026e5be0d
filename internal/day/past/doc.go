// Package past reads the runs of a history with the state of the site in each, and what
// rehearsals showed of these states.
package past
