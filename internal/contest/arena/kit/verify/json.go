// Package verify has checks of answers that several arenas need, besides those of
// package scenario: JSON read without a tree, refusals, pages and static files.
package verify

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/jsonread"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// OpenJSON checks status and type of a JSON answer and returns a reader of its
// body.
func OpenJSON(res *scenario.Response, status int) (jsonread.Reader, error) {
	if err := scenario.WantStatus(res, status); err != nil {
		return jsonread.Reader{}, err
	}
	if err := scenario.WantType(res, "application/json"); err != nil {
		return jsonread.Reader{}, err
	}
	return jsonread.New(res.Body), nil
}

// EndJSON checks that the body ends after the value that was read. An error of
// the reader is a fault of kind body.
func EndJSON(res *scenario.Response, r *jsonread.Reader) error {
	err := r.End()
	if err == nil {
		return nil
	}
	f := scenario.Wrong(res, "", "JSON: %v", err)
	f.Kind, f.Cause = iikanji.FaultBody, err
	return f
}

// Refusal checks a refusal: status, type text/plain and exact text. name is the
// check's name: the rule that the target broke if it answered otherwise.
func Refusal(res *scenario.Response, name string, status int, text string) error {
	return named(scenario.WantText(res, status, text), name)
}

// RefusalStatus checks a refusal of an API that leaves the body free. name is
// the check's name.
func RefusalStatus(res *scenario.Response, name string, status int) error {
	return named(scenario.WantStatus(res, status), name)
}

// named sets the check's name of a fault.
func named(err error, name string) error {
	if f, ok := err.(*scenario.Fault); ok {
		f.Check = name
	}
	return err
}
