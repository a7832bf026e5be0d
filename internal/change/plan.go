package change

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// Absent is the fingerprint of a file that does not exist.
const Absent iikanji.Fingerprint = "absent"

// FingerprintOf is the fingerprint of content.
func FingerprintOf(content []byte) iikanji.Fingerprint {
	sum := sha256.Sum256(content)
	return iikanji.Fingerprint(hex.EncodeToString(sum[:]))
}

// An Edit is the content of a file before and after a change.
type Edit struct {
	Path     string
	Old, New []byte // nil means that there is no file
	Host     string // HostRef.Name; "" is this machine
	Folder   bool   // the folder exists only with the change; see Op.Folder
}

// OnHost sets the host of edits.
func OnHost(name string, edits ...Edit) []Edit {
	edits = slices.Clone(edits)
	for i := range edits {
		edits[i].Host = name
	}
	return edits
}

// ReadOld reads the content of a host's file before an edit; nil if there is no
// such file.
func (s *Site) ReadOld(on, path string) ([]byte, error) {
	h, err := s.On(on)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return oldContent(path, func() ([]byte, error) { return h.Read(path) })
}

// oldContent reads the content of a file before an edit; nil if there is no such
// file.
func oldContent(path string, read func() ([]byte, error)) ([]byte, error) {
	b, err := read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if b == nil {
		b = []byte{}
	}
	return b, nil
}

// FromEdits makes Do and Undo of a change: the files, then the Reload or Restart
// of c.Target, if any, both ways.
func FromEdits(c *iikanji.Change, notice iikanji.Verb, edits ...Edit) {
	ground := sha256.New()
	for _, e := range edits {
		do, undo := writeOp(e, e.New), writeOp(e, e.Old)
		do.Expect, undo.Expect = stateAfter(undo), stateAfter(do)
		c.Do = append(c.Do, do)
		c.Undo = append(c.Undo, undo)
		fmt.Fprintf(ground, "%s %s\n", do.Location(), do.Expect)
	}
	slices.Reverse(c.Undo)
	c.Ground = iikanji.Fingerprint(hex.EncodeToString(ground.Sum(nil)))
	if notice != iikanji.VerbUnknown {
		op := iikanji.Op{Verb: notice, Place: c.Target}
		if len(edits) > 0 {
			op.Host = edits[0].Host
		}
		c.Do, c.Undo = append(c.Do, op), append(c.Undo, op)
	}
}

// InTurn makes Do and Undo of a change from those of parts: Do in their order, Undo
// in the reverse order.
func InTurn(c *iikanji.Change, parts ...*iikanji.Change) {
	ground := ""
	for _, p := range parts {
		c.Do = append(c.Do, p.Do...)
		c.Undo = slices.Concat(p.Undo, c.Undo)
		ground += string(p.Ground) + "\n"
	}
	c.Ground = FingerprintOf([]byte(ground))
}

func writeOp(e Edit, content []byte) iikanji.Op {
	if content == nil {
		return iikanji.Op{Verb: iikanji.Remove, Host: e.Host, Place: e.Path, Folder: e.Folder}
	}
	return iikanji.Op{Verb: iikanji.Write, Host: e.Host, Place: e.Path, Body: string(content), Folder: e.Folder}
}

// stateAfter is the fingerprint of a place after an op; "" for ops whose effect is
// not in their data.
func stateAfter(op iikanji.Op) iikanji.Fingerprint {
	switch op.Verb {
	case iikanji.Write:
		return FingerprintOf([]byte(op.Body))
	case iikanji.Remove:
		return Absent
	}
	o, err := orderOf(op)
	if err != nil || o == nil {
		return ""
	}
	_, left := o.states()
	return left
}

// leaves is the fingerprint that an op of c leaves at its place. A statement
// leaves the state that its counterpart expects: the kind has tried both.
func leaves(c *iikanji.Change, op iikanji.Op) iikanji.Fingerprint {
	if op.Verb != iikanji.SQL {
		return stateAfter(op)
	}
	for _, o := range slices.Concat(c.Do, c.Undo) {
		if o.Verb == iikanji.SQL && o.Location() == op.Location() && o.Expect != op.Expect {
			return o.Expect
		}
	}
	return ""
}

// Check proves from the data alone that Undo is the inverse of Do: both touch
// the same places, once each, and each op leaves what the other expects.
func Check(c *iikanji.Change) error {
	if len(c.Do) == 0 || len(c.Undo) == 0 || c.Kind == "" || c.Target == "" || c.Says == "" || c.Ground == "" {
		return errors.New("a part is missing")
	}
	do, err := states(c.Do)
	if err != nil {
		return err
	}
	undo, err := states(c.Undo)
	if err != nil {
		return err
	}
	if len(do) != len(undo) {
		return errors.New("do and undo touch different places")
	}
	for place, d := range do {
		u, ok := undo[place]
		if !ok || !chained(c, d, u) || !chained(c, u, d) {
			return fmt.Errorf("undo does not lead back at %s", place)
		}
	}
	return nil
}

// chained reports whether each op on a place expects what the one before it leaves, and the
// first one what the last op of the other side leaves.
func chained(c *iikanji.Change, ops, other []iikanji.Op) bool {
	before := leaves(c, other[len(other)-1])
	for _, op := range ops {
		if op.Expect != before {
			return false
		}
		before = leaves(c, op)
	}
	return true
}

// states are the ops that leave a state, by place: one for each place, but several for a
// unit, which may have to end while something else is done.
func states(ops []iikanji.Op) (map[string][]iikanji.Op, error) {
	by := map[string][]iikanji.Op{}
	for i, op := range ops {
		if op.Place == "" {
			return nil, fmt.Errorf("an op %s without a place", op.Verb)
		}
		if _, err := waitsFor(ops, i); err != nil {
			return nil, err
		}
		if _, err := orderOf(op); err != nil {
			return nil, err
		}
		switch op.Verb {
		case iikanji.Write, iikanji.Remove, iikanji.SQL, iikanji.Unit, iikanji.Place, iikanji.Account:
			if before := by[op.Location()]; len(before) > 0 && (op.Verb != iikanji.Unit || before[0].Verb != iikanji.Unit) {
				return nil, fmt.Errorf("%s is touched twice", op.Location())
			}
			if op.Expect == "" {
				return nil, fmt.Errorf("no state is expected at %s", op.Location())
			}
			by[op.Location()] = append(by[op.Location()], op)
		case iikanji.Reload, iikanji.Restart:
		default:
			return nil, fmt.Errorf("no op %s can be undone", op.Verb)
		}
	}
	return by, nil
}

// Diff shows the effect of a change as text.
func Diff(c *iikanji.Change) string {
	undo := map[string]string{}
	for _, op := range c.Undo {
		if op.Verb == iikanji.Write {
			undo[op.Location()] = op.Body
		}
	}
	var b strings.Builder
	for _, op := range c.Do {
		switch op.Verb {
		case iikanji.Write, iikanji.Remove:
			old, had := undo[op.Location()]
			b.WriteString(unified(op.Location(), old, op.Body, had, op.Verb == iikanji.Write))
		case iikanji.SQL:
			fmt.Fprintf(&b, "# on %s\n%s;\n", op.Location(), op.Body)
		case iikanji.Unit, iikanji.Place, iikanji.Account:
			fmt.Fprintf(&b, "# %s %s\n%s\n", op.Verb, op.Location(), op.Body)
		default:
			fmt.Fprintf(&b, "# %s %s\n", op.Verb, op.Location())
		}
	}
	return b.String()
}
