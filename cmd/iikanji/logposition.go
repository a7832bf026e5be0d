package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/logs/lines"
)

// positions are the offsets up to which growing logs were read, by absolute
// name.
type positions map[string]position

type position struct {
	Offset int64 `json:"offset"`
	// Head and Hash are the length and the hash of the first bytes of the log.
	// They change when the log is replaced (rotated, or truncated and written
	// again).
	Head int64  `json:"head"`
	Hash uint64 `json:"hash,string"`
}

// headBytes is how many bytes identify a log.
const headBytes = 256

// loadPositions reads a position file; a missing one is empty.
func loadPositions(name string) (positions, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return positions{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the positions: %w", err)
	}
	p := positions{}
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, hinted(fmt.Errorf("reading the positions in %s: %w", name, err), "delete it to start at the beginning")
	}
	return p, nil
}

// find returns the offset where to continue in a log, and a note for the user.
func (p positions) find(name string) (int64, string) {
	known, ok := p[absolute(name)]
	if !ok || known.Offset == 0 {
		return 0, name + " is read for the first time"
	}
	if hash, err := hashHead(name, known.Head); err != nil || hash != known.Hash {
		return 0, name + " was replaced and is read from its beginning"
	}
	if st, err := os.Stat(name); err == nil && st.Mode().IsRegular() && st.Size() < known.Offset {
		return 0, name + " became shorter and is read from its beginning"
	}
	return known.Offset, fmt.Sprintf("%s is read from byte %d on", name, known.Offset)
}

func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

func hashHead(name string, n int64) (uint64, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	h := fnv.New64a()
	if _, err := io.CopyN(h, f, n); err != nil {
		return 0, err
	}
	return h.Sum64(), nil
}

// savePositions stores the offsets of these logs in a position file.
func savePositions(file string, names []string, inputs []*lines.Input) error {
	p, err := loadPositions(file)
	if err != nil {
		return err
	}
	for i, name := range names {
		if name == "-" {
			continue
		}
		at := position{Offset: inputs[i].End()}
		if st, err := os.Stat(name); err == nil {
			at.Head = min(st.Size(), headBytes)
		}
		if inputs[i].Compression() == "" {
			at.Head = min(at.Head, at.Offset) // later bytes may still change
		}
		if at.Hash, err = hashHead(name, at.Head); err != nil {
			return fmt.Errorf("saving the position of %s: %w", name, err)
		}
		p[absolute(name)] = at
	}
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("saving the positions: %w", err)
	}
	return writeWhole(file, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
}
