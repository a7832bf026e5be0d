package patch

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

func init() { change.Register(Kind{}) }

// Kind plans patches of source. Remedy.Target is the service; see acts.go for
// the arguments. Findings propose a patch without a diff; planning it returns change.ErrNoDiff.
type Kind struct{}

var _ change.Kind = Kind{}

// Name implements change.Kind.
func (Kind) Name() string { return "patch" }

// Plan implements change.Kind.
func (k Kind) Plan(ctx context.Context, s *change.Site, r iikanji.Remedy) (*iikanji.Change, error) {
	_, args, err := match(r)
	if err != nil {
		return nil, err
	}
	says, err := sentence(args.Says, r.Says)
	if err != nil {
		return nil, err
	}
	source, err := s.SourceOf(r.Target)
	if err != nil {
		return nil, err
	}
	files, err := parse(args.Diff)
	if err != nil {
		return nil, err
	}
	edits, err := editsOf(s, s.Services[r.Target].Host, source, files)
	if err != nil {
		return nil, err
	}
	if err := s.Compile(ctx, s.Services[r.Target], source, edits); err != nil {
		return nil, err
	}
	c := &iikanji.Change{Kind: k.Name(), Target: r.Target, Weakens: args.Weakens, Risk: iikanji.RiskRestart,
		Says: says + " (" + summary(files) + ")"}
	s.FromSource(c, edits...)
	return c, nil
}

// editsOf reads the files of a diff and applies it to them in memory.
//
// The diff counts as applied before, and the result is change.ErrNothing, when
// its reverse matches all files, and matches nearer to the stated lines than the
// diff does.
func editsOf(s *change.Site, on, source string, files []filePatch) ([]change.Edit, error) {
	left := budget(maxCompares)
	var edits []change.Edit
	var failed error
	offset, offsetBack, applied := 0, 0, true
	for _, f := range files {
		if err := f.allowed(); err != nil {
			return nil, err
		}
		old, err := f.read(s, on, source)
		if err != nil {
			return nil, err
		}
		flipped := f.flip()
		back, err := flipped.apply(old, &left)
		applied, offsetBack = applied && err == nil, offsetBack+back.offset
		out, err := f.apply(old, &left)
		if failed == nil {
			failed = err
		}
		offset += out.offset
		if err == nil && !bytes.Equal(old, out.content) {
			edits = append(edits, change.Edit{Path: filepath.Join(source, filepath.FromSlash(f.path)), Old: old, New: out.content, Host: on})
		}
	}
	if applied && (failed != nil || offsetBack < offset) || failed == nil && len(edits) == 0 {
		return nil, change.ErrNothing
	}
	return edits, failed
}

// summary lists the files that a diff touches, with added and removed lines.
func summary(files []filePatch) string {
	var parts []string
	for i, f := range files {
		added, removed := 0, 0
		for _, h := range f.hunks {
			before := len(h.side(' '))
			added, removed = added+len(h.side('+'))-before, removed+len(h.side('-'))-before
		}
		parts = append(parts, fmt.Sprintf("%s +%d −%d", f.path, added, removed))
		if i == 4 && len(files) > 6 {
			parts = append(parts, fmt.Sprintf("and %d files more", len(files)-5))
			break
		}
	}
	return strings.Join(parts, ", ")
}
