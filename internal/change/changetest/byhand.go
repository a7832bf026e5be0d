package changetest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"github.com/iikanji/iikanji"
)

// ByHand edits the file of an op, as a user edit would: it adds a line, or
// creates a missing file. calm restores the previous state.
func ByHand(op iikanji.Op) (calm func() error, err error) {
	was, err := os.ReadFile(op.Place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		calm = func() error { return os.Remove(op.Place) }
	case err != nil:
		return nil, err
	default:
		calm = func() error { return os.WriteFile(op.Place, was, 0o644) }
	}
	return calm, os.WriteFile(op.Place, append(bytes.Clone(was), "\n# by hand\n"...), 0o644)
}
