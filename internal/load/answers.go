package load

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// An AnswerSpec describes a comparison of answers.
type AnswerSpec struct {
	Service string // the app whose source changes
	Seed    uint64
	Load    time.Duration // of the run whose requests are recorded
	// AnyOrder: lists may come in another order.
	AnyOrder bool
	// Swap applies the change, or undoes it. The app answers afterwards.
	Swap func(ctx context.Context, on bool) error
}

// An AnswerReport is the result of a comparison. The change is applied if no answer
// differs, and undone otherwise.
type AnswerReport struct {
	iikanji.Answered
	Unlike []Unlike `json:"unlike,omitempty"` // the first few
}

// An Unlike is a request that the two builds answered differently.
type Unlike struct {
	Request string `json:"request"`
	Why     string `json:"why"`
	Old     string `json:"old"` // the beginning of the answer before the change
	New     string `json:"new"`
}

// Difference shows the first request with different answers, and names the others; "" if
// all answers are equal.
func (r AnswerReport) Difference() string {
	if len(r.Unlike) == 0 {
		return ""
	}
	u := r.Unlike[0]
	text := fmt.Sprintf("%s is answered differently: %s\nbefore: %s\nafter:  %s", u.Request, u.Why, u.Old, u.New)
	if n := len(r.Unlike) - 1; n > 0 {
		var others []string
		for _, o := range r.Unlike[1:] {
			others = append(others, o.Request+": "+o.Why)
		}
		text += "\nalso: " + strings.Join(others, "; ")
	}
	return text
}
