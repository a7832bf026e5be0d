package change

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// An AgeError is a change that keeps answers longer than the policy allows.
type AgeError struct {
	Most time.Duration
	Age  time.Duration // 0 if it is not known
}

func (e *AgeError) Error() string {
	if e.Age == 0 {
		return fmt.Sprintf("the policy allows answers that are at most %s old, and this change has no such limit", e.Most)
	}
	return fmt.Sprintf("the policy allows answers that are at most %s old, and this change keeps them for %s", e.Most, e.Age)
}

// Hints tells where the limit is.
func (e *AgeError) Hints() []string {
	return []string{"max_age below [policy] is the limit", "fixed below [policy] names the files that never change, for which it is none"}
}

// ageArgs are the arguments of acts that say how old an answer may become.
var ageArgs = []string{"valid", "expires"}

// youngEnough refuses a change that weakens freshness by more than the policy's limit, unless
// it is about files that the policy names as fixed.
func youngEnough(p iikanji.Policy, c *iikanji.Change, r iikanji.Remedy) error {
	most := p.MaxAge
	if most <= 0 || !slices.Contains(c.Weakens, iikanji.Freshness) || fixed(p, r.Args["path"]) {
		return nil
	}
	var age time.Duration
	for _, arg := range ageArgs {
		text := r.Args[arg]
		if days, ok := strings.CutSuffix(text, "d"); ok { // nginx's, which time.ParseDuration does not know
			text = days + "h"
			if d, err := time.ParseDuration(text); err == nil {
				age = max(age, 24*d)
			}
			continue
		}
		if d, err := time.ParseDuration(text); err == nil {
			age = max(age, d)
		}
	}
	if r.Args["stale"] == "updating" && age > 0 { // an old answer is sent while a new one is made
		age = iikanji.RenewedAge(age)
	}
	if age == 0 || age > most {
		return &AgeError{most, age}
	}
	return nil
}

// fixed reports whether all paths of a remedy, with semicolons between them, are of files that
// never change.
func fixed(p iikanji.Policy, paths string) bool {
	for at := range strings.SplitSeq(paths, ";") {
		if !p.Fixes(at) {
			return false
		}
	}
	return true
}
