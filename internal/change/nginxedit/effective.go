package nginxedit

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

// An OverriddenError is a change of nginx's configuration without its effect: nginx
// reads a setting at another place that wins.
type OverriddenError struct {
	File string // has the setting that wins
	Says string // what the change does
}

func (e *OverriddenError) Error() string {
	return fmt.Sprintf("%s has a setting that wins over this one: %s", e.File, e.Says)
}

// Hints implements the hints of errors.
func (e *OverriddenError) Hints() []string {
	return []string{"remove the setting from " + e.File + ", or plan the change again: the plan edits that file"}
}

// Effective returns an error if the plan of an applied change, planned again, has
// something left to write. planning is the error of that plan: change.ErrNothing, or a
// refusal, which shows nothing because the remedy of an applied change is without its
// proofs.
func Effective(again *iikanji.Change, planning error) error {
	if planning != nil {
		return nil
	}
	for _, op := range again.Do {
		if op.Verb == iikanji.Write {
			return &OverriddenError{op.Place, again.Says}
		}
	}
	return nil
}
