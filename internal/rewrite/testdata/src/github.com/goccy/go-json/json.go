// Package json has the signatures of go-json, for tests.
package json

import "io"

type Encoder struct{}

func NewEncoder(w io.Writer) *Encoder         { return nil }
func (e *Encoder) Encode(v interface{}) error { return nil }
func Marshal(v interface{}) ([]byte, error)   { return nil, nil }
