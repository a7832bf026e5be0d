package export

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

// An Item is a kept change with its verdict, which is nil for a change that was
// applied by hand.
type Item struct {
	Change  *iikanji.Change
	Verdict *iikanji.Verdict
	At      time.Time // when it was applied last
}

// A file holds the effect of all changes on one file.
type file struct {
	rel      string // its path in the stack's folder, with slashes
	old, new []byte // nil: the file did not exist, or was removed
	of       []iikanji.ChangeID
	portable string // the patch, or the whole new file, for other machines
}

// A notice is a service that must be restarted or reloaded.
type notice struct {
	text string // "restart database"
	of   []iikanji.ChangeID
}

// with adds a change to the changes of a file or a notice.
func with(of []iikanji.ChangeID, id iikanji.ChangeID) []iikanji.ChangeID {
	if slices.Contains(of, id) {
		return of
	}
	return append(of, id)
}

// A folded is the sum of the changes.
type folded struct {
	files   []file
	notices []notice // without duplicates, in the order of their first change
}

// appliedAt has the time of the latest application of each change.
func appliedAt(h *history.History) map[iikanji.ChangeID]time.Time {
	at := map[iikanji.ChangeID]time.Time{}
	for _, e := range h.Events() {
		if e.What == history.Staged && e.Stage == iikanji.Applied {
			at[e.Change] = e.At
		}
	}
	return at
}

// kept lists the kept changes in the order in which they were last applied.
func kept(h *history.History) ([]*iikanji.Change, error) {
	all, err := h.Changes()
	if err != nil {
		return nil, err
	}
	at := map[iikanji.ChangeID]int64{}
	for _, e := range h.Events() {
		if e.What == history.Staged && e.Stage == iikanji.Applied {
			at[e.Change] = e.Seq
		}
	}
	all = slices.DeleteFunc(all, func(c *iikanji.Change) bool { return c.Stage != iikanji.Kept })
	slices.SortStableFunc(all, func(a, b *iikanji.Change) int { return int(at[a.ID] - at[b.ID]) })
	return all, nil
}

// fold combines changes. Paths become relative to root.
func fold(items []Item, root string) (*folded, error) {
	var f folded
	index := map[string]int{}
	for _, it := range items {
		before := map[string][]byte{}
		for _, op := range it.Change.Undo {
			if op.Verb == iikanji.Write {
				before[op.Location()] = []byte(op.Body)
			}
		}
		for _, op := range it.Change.Do {
			switch op.Verb {
			case iikanji.Write, iikanji.Remove:
				i, known := index[op.Location()]
				if !known {
					rel, err := below(root, op.Location()) // refuses a file on another host
					if err != nil {
						return nil, fmt.Errorf("change %d: %w", it.Change.ID, err)
					}
					i = len(f.files)
					index[op.Location()] = i
					f.files = append(f.files, file{rel: rel, old: before[op.Location()]})
				}
				f.files[i].of = with(f.files[i].of, it.Change.ID)
				if f.files[i].new = nil; op.Verb == iikanji.Write {
					f.files[i].new = []byte(op.Body)
				}
			case iikanji.Restart, iikanji.Reload:
				text := op.Verb.String() + " " + op.Location()
				i := slices.IndexFunc(f.notices, func(n notice) bool { return n.text == text })
				if i < 0 {
					i = len(f.notices)
					f.notices = append(f.notices, notice{text: text})
				}
				f.notices[i].of = with(f.notices[i].of, it.Change.ID)
			}
		}
	}
	f.files = slices.DeleteFunc(f.files, func(x file) bool { // final content equals the original
		return (x.old == nil) == (x.new == nil) && bytes.Equal(x.old, x.new)
	})
	slices.SortFunc(f.files, func(a, b file) int { return strings.Compare(a.rel, b.rel) })
	return &f, nil
}

// below returns a path relative to the folder that must contain it.
func below(root, path string) (string, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", fmt.Errorf("%s is not in the folder %s", path, root)
	}
	return filepath.ToSlash(rel), nil
}
