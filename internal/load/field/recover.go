package field

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// A ForeignStateError is a file of an interrupted change whose content is neither that
// before the change nor that after it.
type ForeignStateError struct {
	Change iikanji.ChangeID
	Place  string
}

func (e *ForeignStateError) Error() string {
	return fmt.Sprintf("putting back the files of change %d: %s was edited since", e.Change, e.Place)
}

// Hints returns the place of the change's diff.
func (e *ForeignStateError) Hints() []string {
	return []string{fmt.Sprintf("its diff is the file changes/%04d/diff in the history", e.Change)}
}

// PutFilesBack restores the files of interrupted changes, the latest change first,
// while no service runs. The executor runs later and verifies the result. A file with
// foreign content is not changed and ends the function with a *ForeignStateError.
func PutFilesBack(ctx context.Context, site *change.Site, interrupted []*iikanji.Change) error {
	for _, c := range slices.Backward(interrupted) {
		for _, op := range c.Undo {
			if op.Verb != iikanji.Write && op.Verb != iikanji.Remove {
				continue
			}
			now, err := site.State(ctx, op)
			if err != nil {
				return err
			}
			before := change.Absent
			if op.Verb == iikanji.Write {
				before = change.FingerprintOf([]byte(op.Body))
			}
			switch now {
			case before:
			case op.Expect:
				if err := site.Perform(ctx, op); err != nil {
					return fmt.Errorf("putting back the files of change %d: %w", c.ID, err)
				}
			default:
				return &ForeignStateError{Change: c.ID, Place: op.Location()}
			}
		}
	}
	return nil
}

// SweepTemporary removes the temporary files of writes that were killed before
// their rename. Package host names them ".NAME.DIGITS", beside the file NAME.
func SweepTemporary(ctx context.Context, site *change.Site, interrupted []*iikanji.Change) error {
	for _, c := range interrupted {
		for _, op := range slices.Concat(c.Do, c.Undo) {
			if op.Verb != iikanji.Write {
				continue
			}
			if err := sweepBeside(ctx, site, op); err != nil {
				return err
			}
		}
	}
	return nil
}

func sweepBeside(ctx context.Context, site *change.Site, op iikanji.Op) error {
	dir, prefix := filepath.Dir(op.Place), "."+filepath.Base(op.Place)+"."
	on, err := site.On(op.Host)
	if err != nil {
		return fmt.Errorf("listing the temporary files of killed writes: %w", err)
	}
	entries, err := on.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing the temporary files of killed writes: %w", err)
	}
	for _, e := range entries {
		digits, ours := strings.CutPrefix(e.Name(), prefix)
		if !ours || digits == "" || strings.Trim(digits, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		op := iikanji.Op{Verb: iikanji.Remove, Host: op.Host, Place: filepath.Join(dir, e.Name())}
		if err := site.Perform(ctx, op); err != nil {
			return fmt.Errorf("removing the temporary file of a killed write: %w", err)
		}
	}
	return nil
}
