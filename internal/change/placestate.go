package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/tree"
)

// Names beside a place: the former content while the copy has its place, and a mark of a
// place that was missing.
const (
	formerEnd  = ".former"
	missingEnd = ".missing"
)

// FolderID is the identity of a folder: its device and inode, which a rename keeps. It is ""
// where nothing is.
func FolderID(h host.Host, path string) (string, error) {
	info, err := h.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() {
		return "", fmt.Errorf("%s is no folder that can be told from another one", path)
	}
	return fmt.Sprintf("%d:%d", uint64(stat.Dev), stat.Ino), nil
}

// placeOn checks an op on a folder and returns its host and order.
func (s *Site) placeOn(op iikanji.Op) (host.Host, PlaceOrder, error) {
	o, err := ParsePlaceOrder(op.Body)
	if err != nil {
		return nil, o, err
	}
	if !filepath.IsAbs(op.Place) || filepath.Clean(op.Place) != op.Place || !strings.HasPrefix(o.Beside, op.Place+".iikanji-") {
		return nil, o, fmt.Errorf("%s is not beside %s", o.Beside, op.Place)
	}
	if err := s.mayPlace(op.Host, op.Place); err != nil {
		return nil, o, err
	}
	if err := s.mayPlace(o.Host, o.Source); err != nil && o.Put {
		return nil, o, fmt.Errorf("copying %s: %w", o.Source, err)
	}
	h, err := s.On(op.Host)
	return h, o, err
}

// mayPlace refuses a folder that is neither one of the target's folders nor below one.
func (s *Site) mayPlace(on, path string) error {
	for _, root := range s.RootsOn(on) {
		if path == root || within(root, path) {
			return nil
		}
	}
	return fmt.Errorf("%s is outside the folders of the target%s", path, onHost(on))
}

// placeNow reads the state of a place: its fingerprint, and a text for people.
func (s *Site) placeNow(op iikanji.Op) (iikanji.Fingerprint, string, error) {
	h, o, err := s.placeOn(op)
	if err != nil {
		return "", "", err
	}
	here, err := FolderID(h, op.Place)
	copied, err2 := FolderID(h, o.Beside)
	former, err3 := FolderID(h, o.Beside+formerEnd)
	if err := errors.Join(err, err2, err3); err != nil {
		return "", "", err
	}
	marked := !missing(h, o.Beside+missingEnd)
	found, placed := FingerprintOf([]byte(o.foundText())), FingerprintOf([]byte(o.placedText()))
	if o.Found == "" {
		found = Absent
	}
	if o.Found == "" && former == "" {
		switch {
		case here == "" && copied == "" && !marked:
			return found, "", nil
		case here != "" && copied == "" && marked:
			return placed, o.placedText(), nil
		case here == "" && marked, here == "" && copied != "":
			return Partly, "the copy is not finished\n", nil
		}
	}
	if o.Found != "" && !marked {
		switch {
		case here == o.Found && copied == "" && former == "":
			return found, o.foundText(), nil
		case here != "" && here != o.Found && copied == "" && former == o.Found:
			return placed, o.placedText(), nil
		case here == o.Found && former == "", here == "" && former == o.Found, former == o.Found && copied != "":
			return Partly, "the copy is not finished\n", nil
		}
	}
	text := fmt.Sprintf("%s is the folder %s, and was %s\n", op.Place, orNothing(here), orNothing(o.Found))
	return FingerprintOf([]byte(text)), text, nil
}

// performPlace puts the copy or the former content into a place. It may be performed again.
// No step but the renames touches the place itself.
func (s *Site) performPlace(ctx context.Context, op iikanji.Op) error {
	h, o, err := s.placeOn(op)
	if err != nil {
		return err
	}
	now, text, err := s.placeNow(op)
	if err != nil {
		return err
	}
	on, err := tree.On(h)
	if err != nil {
		return err
	}
	if _, left := o.states(); now == left {
		return nil
	}
	if o.text(now) == "" && now != Partly && now != Absent {
		return fmt.Errorf("%s is neither as it was found nor as it is left: %s", op.Place, strings.TrimSpace(text))
	}
	if !o.Put {
		if err := s.clearLoad(ctx, h, o); err != nil {
			return err
		}
		return putBack(h, on, op.Place, o)
	}
	fill := s.fill
	if o.Loader != "" {
		fill = s.load
	}
	if err := fill(ctx, on, op, o); err != nil {
		return err
	}
	return putCopy(h, on, op.Place, o)
}

// fill makes the copy beside the place, or goes on with it.
func (s *Site) fill(ctx context.Context, to tree.Host, op iikanji.Op, o PlaceOrder) error {
	source, err := s.On(o.Host)
	if err != nil {
		return err
	}
	from, err := tree.On(source)
	if err != nil {
		return err
	}
	h, err := s.On(o.Host)
	if err != nil {
		return err
	}
	if there, err := FolderID(h, o.Source); err != nil || there == "" {
		return errors.Join(err, fmt.Errorf("copying %s: there is no such folder", o.Source))
	}
	m, err := copyFolder(ctx, from, to, o)
	if err != nil {
		return fmt.Errorf("copying %s to %s: %w", o.Source, op.Place, err)
	}
	if o.Digest != "" && m.Digest() != o.Digest {
		return fmt.Errorf("copying %s to %s: its content has changed since the plan", o.Source, op.Place)
	}
	return nil
}

// copyFolder copies directly where both hosts can, otherwise through this machine.
func copyFolder(ctx context.Context, from, to tree.Host, o PlaceOrder) (tree.Manifest, error) {
	if o.Directly != "" {
		m, err := tree.Directly(ctx, from, o.Source, o.Directly, to, o.Beside)
		if err == nil || ctx.Err() != nil || lostIn(err) != nil {
			return m, err
		}
	}
	have, err := to.ListTree(ctx, o.Beside)
	if err != nil {
		return nil, err
	}
	r, err := from.PackTree(ctx, o.Source, have)
	if err != nil {
		return nil, err
	}
	m, err := to.UnpackTree(ctx, o.Beside, r)
	if closed := r.Close(); err == nil && closed != nil && !errors.Is(closed, io.EOF) {
		err = closed
	}
	return m, err
}

// putCopy renames the copy into its place.
func putCopy(h host.Host, on tree.Host, place string, o PlaceOrder) error {
	if o.Found == "" {
		if err := h.Create(o.Beside+missingEnd, nil, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return on.RenameTree(o.Beside, place)
	}
	if missing(h, o.Beside+formerEnd) {
		if err := on.RenameTree(place, o.Beside+formerEnd); err != nil {
			return err
		}
	}
	return on.RenameTree(o.Beside, place)
}

// putBack renames the former content into its place, and removes the copy.
func putBack(h host.Host, on tree.Host, place string, o PlaceOrder) error {
	here, err := FolderID(h, place)
	if err != nil {
		return err
	}
	if here != "" && here != o.Found && missing(h, o.Beside) {
		if err := on.RenameTree(place, o.Beside); err != nil {
			return err
		}
	}
	if o.Found != "" && !missing(h, o.Beside+formerEnd) {
		if err := on.RenameTree(o.Beside+formerEnd, place); err != nil {
			return err
		}
	}
	if err := h.RemoveAll(o.Beside); err != nil {
		return fmt.Errorf("removing the copy: %w", err)
	}
	if o.Found == "" && !missing(h, o.Beside+missingEnd) {
		return h.Remove(o.Beside + missingEnd)
	}
	return nil
}
