package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A Kind plans changes of one sort. It reads through the site and writes only
// scratch files of its own.
type Kind interface {
	Name() string // as in Remedy.Kind
	Help() string // what it changes, in one line
	Acts() []Act  // in the order of the documentation
	// Match finds the act of a remedy and validates its arguments as far as
	// that needs no site. The act's Belief, Worth, Blinds and Simplifies are
	// those for the remedy's arguments. A remedy that a person has to complete
	// first is an error that wraps ErrNoDiff.
	Match(r iikanji.Remedy) (Act, error)
	// Plan turns a remedy into a change. It returns ErrNothing if the site already
	// has the effect, and an error that names the argument if one is invalid.
	Plan(ctx context.Context, s *Site, r iikanji.Remedy) (*iikanji.Change, error)
}

// ErrNothing is the error of a remedy whose effect the site already has.
var ErrNothing = errors.New("the site has this effect already")

// ErrNoDiff is the error of a remedy whose patch is not written yet.
var ErrNoDiff = errors.New("it needs a patch of the source: a user or a proposer must write the diff")

// ErrByHand is the error of a remedy that a person has to do: findings propose it, and
// nothing can plan it.
var ErrByHand = errors.New("it is about machines, the load or what runs where: a person must do it")

var registry = map[string]Kind{}

// Register adds a kind. It is called from init only and panics if the name is
// taken.
func Register(k Kind) {
	if _, taken := registry[k.Name()]; taken {
		panic("BUG: kind of change " + k.Name() + " registered twice")
	}
	registry[k.Name()] = k
}

// Names lists the kinds in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(registry))
	for n := range registry {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Lookup finds a kind by its name.
func Lookup(name string) (k Kind, ok bool) {
	k, ok = registry[name]
	return k, ok
}

// Match finds the act of a remedy. See Kind.Match.
func Match(r iikanji.Remedy) (Act, error) {
	_, act, err := match(r)
	return act, err
}

func match(r iikanji.Remedy) (Kind, Act, error) {
	k, ok := registry[r.Kind]
	if !ok {
		if r.ForPerson() {
			return nil, Act{}, fmt.Errorf("planning a change: %w", ErrByHand)
		}
		return nil, Act{}, fmt.Errorf("planning a change: no kind %q; there are %v", r.Kind, Names())
	}
	act, err := k.Match(r)
	if err != nil {
		return nil, Act{}, fmt.Errorf("planning %s on %s: %w", r.Kind, r.Target, err)
	}
	return k, act, nil
}

// Plan has the remedy's kind plan it and checks the result. The remedy may come
// from anywhere (a finding, a person, a proposer).
//
// The change's least effect worth keeping is its act's, or WorthState if it
// weakens durability or freshness. It simplifies the site if its act does and
// it weakens no promise but the order of rows without ORDER BY.
func Plan(ctx context.Context, s *Site, r iikanji.Remedy) (*iikanji.Change, error) {
	k, act, err := match(r)
	if err != nil {
		return nil, err
	}
	c, err := k.Plan(ctx, s, r)
	if err != nil {
		return nil, fmt.Errorf("planning %s on %s: %w", r.Kind, r.Target, err)
	}
	if err := youngEnough(s.Target.Policy, c, r); err != nil {
		return nil, fmt.Errorf("planning %s on %s: %w", r.Kind, r.Target, err)
	}
	c.Worth, c.Simplifies = act.Worth, act.Simplifies
	anchors := r
	anchors.Proof = nil
	c.Remedy = &anchors
	for _, p := range c.Weakens {
		if p == iikanji.Durability || p == iikanji.Freshness {
			c.Worth = max(c.Worth, WorthState)
		}
		c.Simplifies = c.Simplifies && p == iikanji.RowOrder
	}
	if err := Check(c); err != nil {
		panic("BUG: kind " + r.Kind + " planned what cannot be undone: " + err.Error())
	}
	err = s.replaceable(c)
	if err == nil {
		err = s.withoutLinks(c)
	}
	if err == nil {
		err = s.rememberRemoved(c)
	}
	if err == nil {
		err = Check(c) // two links may lead to one file
	}
	if err != nil {
		return nil, fmt.Errorf("planning %s on %s: %w", r.Kind, r.Target, err)
	}
	return c, nil
}

// withoutLinks makes the places of files paths without links, as they are now. The
// executor follows no link: one that is made later, in a folder that another
// account may write to, redirects nothing.
func (s *Site) withoutLinks(c *iikanji.Change) error {
	for _, ops := range [][]iikanji.Op{c.Do, c.Undo} {
		for i, op := range ops {
			if op.Verb != iikanji.Write && op.Verb != iikanji.Remove {
				continue
			}
			real, err := s.RealPlace(op.Host, op.Place)
			if err != nil {
				return err
			}
			ops[i].Place = real
		}
	}
	return nil
}

// rememberRemoved adds the mode and the owner of files that the change removes to
// the ops that make them again.
func (s *Site) rememberRemoved(c *iikanji.Change) error {
	for _, op := range c.Do {
		if op.Verb != iikanji.Remove {
			continue
		}
		h, err := s.On(op.Host)
		if err != nil {
			return err
		}
		info, err := h.Lstat(op.Place)
		if err != nil {
			return fmt.Errorf("reading the mode of %s: %w", op.Place, err)
		}
		for i, undo := range c.Undo {
			if undo.Verb != iikanji.Write || undo.Location() != op.Location() {
				continue
			}
			c.Undo[i].Mode = bitsOf(info.Mode())
			if owner, ok := host.OwnerOf(info); ok {
				c.Undo[i].Owner = fmt.Sprintf("%d:%d", owner.UID, owner.GID)
			}
		}
	}
	return nil
}

// RealPlace returns the path of a host's file without links, as in the operations
// of planned changes. The file may not exist yet.
func (s *Site) RealPlace(on, path string) (string, error) {
	h, err := s.On(on)
	if err != nil {
		return "", err
	}
	if real, err := h.RealPath(path); err == nil {
		return real, nil
	}
	if dir, err := h.RealPath(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path)), nil
	}
	return path, nil
}

func missing(h host.Host, path string) bool {
	_, err := h.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// replaceable refuses files that an undo would not restore entirely, such as
// symbolic links: an undo writes content only.
func (s *Site) replaceable(c *iikanji.Change) error {
	for _, op := range c.Do {
		if op.Verb != iikanji.Write && op.Verb != iikanji.Remove {
			continue
		}
		h, err := s.On(op.Host)
		if err != nil {
			return err
		}
		if dir := filepath.Dir(op.Place); op.Folder && missing(h, dir) {
			if err := s.mayMake(h, op); err != nil {
				return err
			}
			continue
		}
		if err := s.MayWrite(op.Host, op.Place); err != nil { // also by way of a link
			return err
		}
		if err := h.Replaceable(op.Place); err != nil {
			return fmt.Errorf("it could not be undone: %w", err)
		}
		if info, err := h.Lstat(op.Place); err == nil && op.Verb == iikanji.Remove && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("it could not be undone: %s is a symbolic link", op.Place)
		}
	}
	return nil
}
