package arenatest

import (
	"encoding/json"
	"time"

	"github.com/iikanji/iikanji/internal/scenario"
)

// The hooks below are what planted faults are made of.

// When passes everything on but the exchanges of a phase, a method and a path
// (see [Exchange.Is]); an empty phase means all.
func When(phase scenario.Phase, method, pattern string, hook Hook) Hook {
	return func(x *Exchange, forward func()) {
		if (phase == "" || phase == x.Phase) && x.Is(method, pattern) {
			hook(x, forward)
			return
		}
		forward()
	}
}

// After changes answers of a status.
func After(status int, change func(x *Exchange)) Hook {
	return func(x *Exchange, forward func()) {
		forward()
		if x.Status == status {
			change(x)
		}
	}
}

// Before changes requests.
func Before(change func(x *Exchange)) Hook {
	return func(x *Exchange, forward func()) {
		change(x)
		forward()
	}
}

// Instead answers by itself.
func Instead(status int, contentType, body string) Hook {
	return func(x *Exchange, _ func()) { x.Give(status, contentType, body) }
}

// Slow passes on after a while.
func Slow(d time.Duration) Hook {
	return func(_ *Exchange, forward func()) {
		time.Sleep(d)
		forward()
	}
}

// JSON changes an answer as a value. An answer that is none of the type is left as it is.
func JSON[T any](change func(x *Exchange, v T) T) func(x *Exchange) {
	return func(x *Exchange) {
		var v T
		if json.Unmarshal(x.Reply, &v) != nil {
			return
		}
		b, err := json.Marshal(change(x, v))
		if err != nil {
			panic("BUG: a planted fault that is no JSON: " + err.Error())
		}
		x.Reply = b
	}
}
