package change

import (
	"slices"

	"github.com/iikanji/iikanji"
)

// Moves reports whether a change decides where its target runs, or prepares that.
func Moves(c *iikanji.Change) bool {
	if c.Remedy == nil {
		return false
	}
	act, err := Match(*c.Remedy)
	return err == nil && act.Prepares
}

// BuiltOn reports whether a later change must be undone before an earlier one: it alters one
// of its places, or one of both moves the service that the other one is about. What was
// changed in a server before its move was changed where it was then.
func BuiltOn(later, earlier *iikanji.Change) bool {
	if later.Target == earlier.Target && (Moves(later) || Moves(earlier)) {
		return true
	}
	return slices.ContainsFunc(later.Do, func(op iikanji.Op) bool {
		return op.Expect != "" && slices.ContainsFunc(earlier.Do, func(o iikanji.Op) bool { return o.Expect != "" && o.Location() == op.Location() })
	})
}
