package gocode

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// maxVetLines bounds the output of go vet in an error.
const maxVetLines = 8

// prove compiles the copy and runs go vet on it. Complaints of go vet that the source
// before the rewrite has, too, do not count.
func (t *task) prove(ctx context.Context, h host.Host, svc change.Service, dir string) error {
	if err := svc.Running.Build(ctx, dir); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return &DefectError{Levers: t.args.Levers, Func: t.args.Func, Err: fmt.Errorf("the rewritten source does not compile: %w", err)}
	}
	said, err := vet(ctx, h, dir)
	if err != nil || said == "" {
		return err
	}
	untouched, err := svc.Readable(ctx, t.copy.Source)
	if err != nil {
		return err
	}
	if before, err := vet(ctx, h, untouched); err != nil || before != "" {
		return err
	}
	return &DefectError{Levers: t.args.Levers, Func: t.args.Func, Err: errors.New("go vet reports: " + said)}
}

// vet returns what go vet reports of a module; "" for nothing.
func vet(ctx context.Context, h host.Host, dir string) (string, error) {
	r, err := change.GoCommand(ctx, h, dir, "vet", "./...")
	if err != nil {
		return "", fmt.Errorf("running go vet: %w", err)
	}
	if r.Status == 0 {
		return "", nil
	}
	var lines []string
	for line := range strings.Lines(string(r.Output)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && len(lines) < maxVetLines {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; "), nil
}
