package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// A Source is a folder of source on a host.
type Source struct {
	Dir string
	// Program is the file that is built from it, which may lie in the folder; "" for none.
	Program string
}

// A State is what a source and its program are at a moment.
type State struct {
	Source  string // digest of the files' names and contents
	Program string // SHA-256 of the program, "" for none
}

// Tasks are what the far end of a host carries out for this package.
func Tasks() []host.Served { return []host.Served{stateTask(), filesTask()} }

// StateOn reads the state of a source where it lies.
func StateOn(ctx context.Context, h host.Host, src Source) (State, error) {
	return stateTask().On(ctx, h, src)
}

func stateTask() host.Task[Source, State] {
	return host.Task[Source, State]{Name: "source-state", Do: func(_ context.Context, _ host.Host, src Source) (State, error) { return stateOf(src) }}
}

func stateOf(src Source) (is State, err error) {
	if is.Source, err = process.SourceSum(src.Dir, src.Program); err != nil {
		return is, err
	}
	if is.Program, err = process.FileSum(src.Program); errors.Is(err, fs.ErrNotExist) {
		return is, nil
	}
	if err != nil {
		return is, fmt.Errorf("reading the program: %w", err)
	}
	return is, nil
}
