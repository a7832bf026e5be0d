package appenv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/change"
)

// maxScratch bounds what is copied to be compiled.
const maxScratch = 256 << 20

// compiles has a scratch copy of the source with the edits compiled.
func compiles(ctx context.Context, svc change.Service, edits []change.Edit) (err error) {
	dir, err := os.MkdirTemp("", "iikanji-appenv-")
	if err != nil {
		return fmt.Errorf("copying the source: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := copySource(ctx, svc.Source, dir); err != nil {
		return fmt.Errorf("copying the source: %w", err)
	}
	for _, e := range edits {
		rel, err := filepath.Rel(svc.Source, e.Path)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, rel), e.New, 0o600)
		}
		if err != nil {
			return fmt.Errorf("copying the source: %w", err)
		}
	}
	if err := svc.Build(ctx, dir); err != nil {
		return fmt.Errorf("the edited source does not compile: %w", err)
	}
	return nil
}

// copySource copies the regular files of a folder, but for hidden ones.
func copySource(ctx context.Context, from, to string) error {
	var size int64
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case rel == ".":
			return nil
		case d.Name()[0] == '.' && d.IsDir():
			return fs.SkipDir
		case d.Name()[0] == '.':
			return nil
		case d.IsDir():
			return os.Mkdir(filepath.Join(to, rel), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if size += int64(len(body)); size > maxScratch {
			return fmt.Errorf("%s is too large to be copied", from)
		}
		return os.WriteFile(filepath.Join(to, rel), body, 0o600)
	})
}
