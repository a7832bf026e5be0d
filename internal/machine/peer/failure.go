package peer

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"slices"
	"syscall"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// kinds are the errors that callers of a Host ask for, by their names on the stream.
func kinds() map[string]error {
	return map[string]error{
		"not exist": fs.ErrNotExist, "exist": fs.ErrExist, "permission": fs.ErrPermission, "closed": fs.ErrClosed,
		"link": host.ErrLink, "outside": host.ErrOutside, "no user": host.ErrNoUser, "process done": os.ErrProcessDone,
		"canceled": context.Canceled, "deadline": context.DeadlineExceeded, "fenced": ErrFenced, "held": ErrHeld, "claimed": ErrClaimed,
	}
}

// A failure is an error on the stream: its text, and what errors.Is and errors.As find
// in it.
type failure struct {
	Text  string
	Kinds []string
	Errno int
	// Op and Path are those of the fs.PathError in it.
	Op   string
	Path string
	// Refused: nobody listens at the address of a Dial.
	Dialled bool
}

func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error()}
	for name, kind := range kinds() {
		if errors.Is(err, kind) {
			f.Kinds = append(f.Kinds, name)
		}
	}
	slices.Sort(f.Kinds)
	var number syscall.Errno
	if errors.As(err, &number) {
		f.Errno = int(number)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		f.Op, f.Path = path.Op, path.Path
	}
	var op *net.OpError
	f.Dialled = errors.As(err, &op)
	return f
}

// A farError is an error of the far end.
type farError struct {
	text string
	in   []error
}

func (e *farError) Error() string   { return e.text }
func (e *farError) Unwrap() []error { return e.in }

// err is the error at the near end, nil for nil.
func (f *failure) err() error {
	if f == nil {
		return nil
	}
	e := &farError{text: f.Text}
	all := kinds()
	for _, name := range f.Kinds {
		if kind, ok := all[name]; ok {
			e.in = append(e.in, kind)
		}
	}
	if f.Errno != 0 {
		e.in = append(e.in, syscall.Errno(f.Errno))
	}
	if f.Path != "" {
		e.in = append(e.in, &fs.PathError{Op: f.Op, Path: f.Path, Err: errors.New("see above")})
	}
	if f.Dialled {
		e.in = append(e.in, &net.OpError{Op: "dial", Err: errors.New(f.Text)})
	}
	return e
}

// ErrFenced is the error of a write outside the folders that the near end named first.
var ErrFenced = errors.New("outside the folders that may be written")

// ErrHeld is the error of a near end that comes while another one may still write.
var ErrHeld = errors.New("another iikanji works on this host")
