package arenatest

import (
	"encoding/json"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// The hooks below are the building blocks of planted faults.

// When applies a hook to the exchanges of a phase, a method and a path (see
// [Exchange.Is]), and passes all others on unchanged. An empty phase means every
// phase.
func When(phase scenario.Phase, method, pattern string, hook Hook) Hook {
	return func(x *Exchange, forward func()) {
		if (phase == "" || phase == x.Phase) && x.Is(method, pattern) {
			hook(x, forward)
			return
		}
		forward()
	}
}

// After changes the answers that have a status.
func After(status int, change func(x *Exchange)) Hook {
	return func(x *Exchange, forward func()) {
		forward()
		if x.Status == status {
			change(x)
		}
	}
}

// Before changes a request before it is forwarded.
func Before(change func(x *Exchange)) Hook {
	return func(x *Exchange, forward func()) {
		change(x)
		forward()
	}
}

// Instead answers without calling the app.
func Instead(status int, contentType, body string) Hook {
	return func(x *Exchange, _ func()) { x.Give(status, contentType, body) }
}

// Slow delays a request before it passes it on.
func Slow(d time.Duration) Hook {
	return func(_ *Exchange, forward func()) {
		time.Sleep(d)
		forward()
	}
}

// JSON decodes an answer as T and changes the value. An answer that does not
// decode as T is left unchanged.
func JSON[T any](change func(x *Exchange, v T) T) func(x *Exchange) {
	return func(x *Exchange) {
		var v T
		if json.Unmarshal(x.Reply, &v) != nil {
			return
		}
		b, err := json.Marshal(change(x, v))
		if err != nil {
			panic("BUG: a planted fault that is not JSON: " + err.Error())
		}
		x.Reply = b
	}
}
