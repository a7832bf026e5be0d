package change

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji"
)

// A PlaceOrder is the body of an op that puts a copy of a folder into a place, or that puts
// the former content of the place back. As text:
//
//	put web:/var/lib/mysql
//	beside /var/lib/mysql.iikanji-1a2b3c4d
//	found 2049:131073
//	directly 10.0.0.11
//	digest 5f…
//
// The copy is written beside the place, synced, and takes the place by a rename. The former
// content is kept beside it until the undo, or until the site is finished. The place has
// one of two states, by the identity of the folder there: a server may write to its data
// afterwards.
type PlaceOrder struct {
	Put    bool // or put the former content back
	Host   string
	Source string // the folder that is copied
	Beside string // where the copy is made
	// Found is the identity of the place's content before the op, as from FolderID; ""
	// for a place that is missing.
	Found string
	// Directly is the address at which the source's host serves the folder to the other
	// host; "" sends all bytes through this machine.
	Directly string
	// Loader is the program of the MariaDB of the place's host, if its data are made anew there
	// from a dump of the server whose folder Source is; "" for a copy of the folder.
	Loader string
	// Digest is that of the folder to copy, as from tree.Manifest; "" for one that is known
	// only when its server has ended.
	Digest string
}

// String formats the order as the body of an op.
func (o PlaceOrder) String() string {
	var b strings.Builder
	word := "back"
	if o.Put {
		word = "put"
	}
	fmt.Fprintf(&b, "%s %s:%s\nbeside %s\nfound %s", word, o.Host, o.Source, o.Beside, orNothing(o.Found))
	if o.Directly != "" {
		b.WriteString("\ndirectly " + o.Directly)
	}
	if o.Loader != "" {
		b.WriteString("\nload " + o.Loader)
	}
	if o.Digest != "" {
		b.WriteString("\ndigest " + o.Digest)
	}
	return b.String()
}

// nothing stands for the identity of a folder that is missing.
const nothing = "nothing"

func orNothing(id string) string {
	if id == "" {
		return nothing
	}
	return id
}

// the texts of the two states.
func (o PlaceOrder) foundText() string { return "as found: " + orNothing(o.Found) + "\n" }
func (o PlaceOrder) placedText() string {
	return "the copy of " + o.Host + ":" + o.Source + ", " + o.Beside + "\n"
}

func (o PlaceOrder) states() (before, left iikanji.Fingerprint) {
	found, placed := FingerprintOf([]byte(o.foundText())), FingerprintOf([]byte(o.placedText()))
	if o.Found == "" {
		found = Absent
	}
	if o.Put {
		return found, placed
	}
	return placed, found
}

func (o PlaceOrder) text(state iikanji.Fingerprint) string {
	for _, t := range []string{o.foundText(), o.placedText()} {
		if FingerprintOf([]byte(t)) == state {
			return t
		}
	}
	return ""
}

var (
	putLine    = regexp.MustCompile(`^(put|back) ([A-Za-z0-9._-]*):(/\S*)$`)
	foundLine  = regexp.MustCompile(`^found (nothing|[0-9]+:[0-9]+)$`)
	besideForm = regexp.MustCompile(`\.iikanji-[0-9a-f]{8}$`)
)

// ParsePlaceOrder parses what String formats.
func ParsePlaceOrder(body string) (PlaceOrder, error) {
	var o PlaceOrder
	lines := strings.Split(body, "\n")
	if len(lines) < 3 {
		return o, errors.New("reading an order on a folder: it is cut")
	}
	m := putLine.FindStringSubmatch(lines[0])
	if m == nil || filepath.Clean(m[3]) != m[3] {
		return o, fmt.Errorf("reading an order on a folder: %.100q names no folder", lines[0])
	}
	o.Put, o.Host, o.Source = m[1] == "put", m[2], m[3]
	beside, ok := strings.CutPrefix(lines[1], "beside ")
	if !ok || !filepath.IsAbs(beside) || filepath.Clean(beside) != beside || !besideForm.MatchString(beside) {
		return o, fmt.Errorf("reading an order on a folder: %.100q is no place of the copy", lines[1])
	}
	o.Beside = beside
	if m = foundLine.FindStringSubmatch(lines[2]); m == nil {
		return o, fmt.Errorf("reading an order on a folder: %.100q is no identity", lines[2])
	}
	if o.Found = m[1]; o.Found == nothing {
		o.Found = ""
	}
	for _, line := range lines[3:] {
		key, value, _ := strings.Cut(line, " ")
		switch {
		case key == "directly" && value != "" && o.Directly == "" && o.Digest == "":
			o.Directly = value
		case key == "load" && filepath.IsAbs(value) && o.Loader == "" && o.Digest == "":
			o.Loader = value
		case key == "digest" && value != "" && o.Digest == "":
			o.Digest = value
		default:
			return o, fmt.Errorf("reading an order on a folder: %.100q is unknown", line)
		}
	}
	return o, nil
}

// PlaceOps are the ops that put a copy of a folder into a place of a host, and the former
// content back.
func PlaceOps(on, place string, o PlaceOrder) (do, undo iikanji.Op) {
	o.Beside = place + ".iikanji-" + string(FingerprintOf([]byte(on + ":" + place + "\n" + o.Host + ":" + o.Source + "\n" + o.Found)))[:8]
	make := func(put bool) iikanji.Op {
		o.Put = put
		before, _ := o.states()
		return iikanji.Op{Verb: iikanji.Place, Host: on, Place: place, Body: o.String(), Expect: before}
	}
	return make(true), make(false)
}
