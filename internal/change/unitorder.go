package change

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji"
)

// A UnitState is whether a systemd unit runs now, and whether the boot starts it.
type UnitState struct{ Active, Enabled bool }

// A UnitLink is a symbolic link by which the boot starts a unit, or another name of it.
type UnitLink struct {
	Path, Target string
	// Folder: the folder of the link exists only while the unit is enabled.
	Folder bool
}

// A UnitOrder is the body of an op on a systemd unit. As text:
//
//	active=no enabled=no
//	was active=yes enabled=yes
//	link /etc/systemd/system/multi-user.target.wants/app.service -> /lib/systemd/system/app.service
//
// The links are those of the enabled unit. systemctl enable makes them from the unit's
// section [Install], which may have been edited since they were made: an undo by it could
// leave others.
type UnitOrder struct {
	Want, Was UnitState
	Links     []UnitLink
}

func (s UnitState) String() string {
	return "active=" + yesNo(s.Active) + " enabled=" + yesNo(s.Enabled)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// linksText are the lines of the links.
func (o UnitOrder) linksText() string {
	var b strings.Builder
	for _, l := range o.Links {
		word := "link"
		if l.Folder {
			word = "link with folder"
		}
		fmt.Fprintf(&b, "\n%s %s -> %s", word, l.Path, l.Target)
	}
	return b.String()
}

// String formats the order as the body of an op.
func (o UnitOrder) String() string {
	return o.Want.String() + "\nwas " + o.Was.String() + o.linksText()
}

func (o UnitOrder) fingerprint(s UnitState) iikanji.Fingerprint {
	return FingerprintOf([]byte(s.String() + o.linksText()))
}

func (o UnitOrder) states() (before, left iikanji.Fingerprint) {
	return o.fingerprint(o.Was), o.fingerprint(o.Want)
}

func (o UnitOrder) text(state iikanji.Fingerprint) string {
	for _, s := range []UnitState{o.Was, o.Want} {
		if o.fingerprint(s) == state {
			return s.String() + "\n"
		}
	}
	return ""
}

var (
	unitLine = regexp.MustCompile(`^(was )?active=(yes|no) enabled=(yes|no)$`)
	linkLine = regexp.MustCompile(`^link( with folder)? (/\S+) -> (/\S+)$`)
)

// ParseUnitOrder parses what String formats.
func ParseUnitOrder(body string) (UnitOrder, error) {
	var o UnitOrder
	lines := strings.Split(body, "\n")
	if len(lines) < 2 {
		return o, errors.New("reading an order on a unit: it has not both states")
	}
	for i, line := range lines {
		if i < 2 {
			m := unitLine.FindStringSubmatch(line)
			if m == nil || (m[1] == "") != (i == 0) {
				return o, fmt.Errorf("reading an order on a unit: %.100q is no state", line)
			}
			s := UnitState{m[2] == "yes", m[3] == "yes"}
			if i == 0 {
				o.Want = s
			} else {
				o.Was = s
			}
			continue
		}
		m := linkLine.FindStringSubmatch(line)
		if m == nil || filepath.Clean(m[2]) != m[2] || filepath.Clean(m[3]) != m[3] {
			return o, fmt.Errorf("reading an order on a unit: %.100q is no link", line)
		}
		o.Links = append(o.Links, UnitLink{m[2], m[3], m[1] != ""})
	}
	if len(o.Links) == 0 && o.Want.Enabled != o.Was.Enabled {
		return o, errors.New("reading an order on a unit: it enables or disables a unit without links")
	}
	return o, nil
}

// UnitOp is the op that brings a unit of a host from one state to another.
func UnitOp(host, unit string, was, want UnitState, links []UnitLink) iikanji.Op {
	o := UnitOrder{Want: want, Was: was, Links: links}
	return iikanji.Op{Verb: iikanji.Unit, Host: host, Place: unit, Body: o.String(), Expect: o.fingerprint(was)}
}
