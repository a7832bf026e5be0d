package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// Limits of a source. Larger files are mostly data, and left out; a folder with more files is none
// of source. An answer must fit into one frame of a connection.
const (
	mostFiles  = 20_000
	mostFile   = 16 << 20 // bytes
	mostAnswer = 32 << 20 // bytes of the files in one answer
)

// A question names a source and what a mirror has of it already.
type question struct {
	Source Source
	Have   map[string]string // digests by names
}

// An answer has a part of the files that the mirror lacks.
type answer struct {
	Names []string  // of all files
	Left  []LeftOut // by all rules of a mirror
	Files []file    // that differ, as many as fit
	More  bool      // there are further ones
}

// A LeftOut is what a source has and its mirror has not: a large file, a link, or a name that
// process.WalkSource leaves out. A go build can need it, as an embedded file.
type LeftOut struct {
	Name      string // relative to the folder of the source
	Dir, Link bool
}

// unread are folders that no go build reads.
var unread = []string{".git", ".hg", ".svn", ".bzr"}

// A file is one of a source, by its name relative to the folder.
type file struct {
	Name string
	Body []byte
}

func filesTask() host.Task[question, answer] {
	return host.Task[question, answer]{Name: "source-files", Do: func(ctx context.Context, _ host.Host, q question) (answer, error) { return filesOf(ctx, q) }}
}

// filesOf reads the files of a source that differ from those in a mirror.
func filesOf(ctx context.Context, q question) (a answer, err error) {
	size := 0
	err = process.WalkWhole(q.Source.Dir, q.Source.Program, func(name string, info fs.FileInfo) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(a.Names)+len(a.Left) >= mostFiles {
			return fmt.Errorf("it has more than %d files", mostFiles)
		}
		if info.Size() > mostFile {
			a.Left = append(a.Left, LeftOut{Name: name})
			return nil
		}
		a.Names = append(a.Names, name)
		if a.More {
			return nil // the names of all are needed
		}
		body, err := os.ReadFile(filepath.Join(q.Source.Dir, name))
		if err != nil {
			return err
		}
		if digest(body) == q.Have[name] {
			return nil
		}
		if size += len(body); size > mostAnswer && len(a.Files) > 0 {
			a.More = true
			return nil
		}
		a.Files = append(a.Files, file{name, body})
		return nil
	}, func(name string, d fs.DirEntry) {
		if !slices.Contains(unread, d.Name()) {
			a.Left = append(a.Left, LeftOut{name, d.IsDir(), d.Type()&fs.ModeSymlink != 0})
		}
	})
	if err != nil {
		return answer{}, fmt.Errorf("reading the source in %s: %w", q.Source.Dir, err)
	}
	return a, nil
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
