package appenv

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A dsn is the text of a DSN, [user[:password]@][net[(addr)]]/dbname[?params].
// It may contain holes: verbs of a format, or other expressions.
type dsn struct {
	text string
	// format: the text is a format of Sprintf.
	format bool
	// transport is the range of "net(addr)"; params is the range after the "?",
	// -1 without one.
	transport, params [2]int
}

// hole stands for an expression between concatenated literals.
const hole = "\x01"

// dsnForm requires the network by name: without it, many strings look like a
// DSN.
var dsnForm = regexp.MustCompile(`^\S*@((?:tcp6?|unix)\([^()\s]*\))/[^?\s/]*(?:\?(\S*))?$`)

// shortForm has no network. Only an argument of Open is matched with it.
var shortForm = regexp.MustCompile(`^(?:\S*@)?((?:tcp6?|unix)?(?:\([^()\s]*\))?)/[^?\s/]*(?:\?(\S*))?$`)

func parseDSN(text string) (dsn, bool) { return matchDSN(dsnForm, text) }

func matchDSN(form *regexp.Regexp, text string) (dsn, bool) {
	m := form.FindStringSubmatchIndex(text)
	if m == nil {
		return dsn{}, false
	}
	return dsn{text: text, transport: [2]int{m[2], m[3]}, params: [2]int{m[4], m[5]}}, true
}

// unsafeCharset matches character sets whose second bytes may be a backslash:
// the driver refuses to interpolate values with them.
var unsafeCharset = regexp.MustCompile(`(?i)(charset|collation)=[^&]*(big5|cp932|gb2312|gbk|gb18030|sjis)`)

// set returns the splices that give the DSN the parameters.
func (d dsn) set(params []param) ([]splice, error) {
	var edits []splice
	var further []string
	for _, p := range params {
		if p.socket {
			more, err := d.setSocket(p.value)
			if err != nil {
				return nil, err
			}
			edits = append(edits, more...)
			continue
		}
		if p.name == "interpolateParams" && p.value == "true" && unsafeCharset.MatchString(d.text) {
			return nil, errors.New("interpolateParams is not safe with the character set of the connection")
		}
		at := d.find(p.name)
		for _, v := range at {
			if strings.Contains(d.text[v[0]:v[1]], hole) || d.format && strings.Contains(d.text[v[0]:v[1]], "%") {
				return nil, fmt.Errorf("the value of %s is not a literal", p.name)
			}
			if d.text[v[0]:v[1]] != p.value {
				edits = append(edits, splice{v[0], v[1], p.value})
			}
		}
		if at == nil {
			further = append(further, p.name+"="+p.value)
		}
	}
	if further == nil {
		return edits, nil
	}
	list := strings.Join(further, "&")
	switch at := d.params; {
	case at[0] < 0:
		edits = append(edits, splice{len(d.text), len(d.text), "?" + list})
	case at[0] == at[1]:
		edits = append(edits, splice{at[0], at[0], list})
	default: // first, because the text at the end may be an expression
		edits = append(edits, splice{at[0], at[0], list + "&"})
	}
	return edits, nil
}

// find returns the ranges of a parameter's values. The last one takes effect.
func (d dsn) find(name string) [][2]int {
	if d.params[0] < 0 {
		return nil
	}
	var found [][2]int
	at := d.params[0]
	for part := range strings.SplitSeq(d.text[d.params[0]:d.params[1]], "&") {
		if n, _, ok := strings.Cut(part, "="); ok && n == name {
			found = append(found, [2]int{at + len(n) + 1, at + len(part)})
		}
		at += len(part) + 1
	}
	return found
}

// setSocket replaces the address by a unix socket. In a format, the arguments of
// the removed verbs stay: the next verb gets the explicit number of its
// argument.
func (d dsn) setSocket(path string) ([]splice, error) {
	from, to := d.transport[0], d.transport[1]
	want := "unix(" + path + ")"
	old := d.text[from:to]
	if old == want {
		return nil, nil
	}
	if strings.Contains(old, hole) {
		return nil, errors.New("the address is made of expressions: the socket cannot take its place without leaving them unused")
	}
	edits := []splice{{from, to, want}}
	if !d.format {
		if strings.Contains(old, "%") {
			return nil, errors.New("it looks like a format, and where it is used was not found")
		}
		return edits, nil
	}
	before, within, after := verbs(d.text[:from]), verbs(old), verbs(d.text[to:])
	if len(within) == 0 {
		return edits, nil
	}
	if len(after) == 0 || slices.Contains(slices.Concat(before, within, after), -1) {
		return nil, errors.New("the address is made by verbs of a format in a way that cannot be edited")
	}
	next := to + after[0] + 1
	return append(edits, splice{next, next, fmt.Sprintf("[%d]", len(before)+len(within)+1)}), nil
}

// verbs returns the offsets of a format's verbs; -1 for a verb that takes
// several arguments or an explicit argument number.
func verbs(format string) (at []int) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i+1 < len(format) && format[i+1] == '%' {
			i++
			continue
		}
		begin := i
		for i++; i < len(format) && strings.IndexByte("+-# 0123456789.*[]", format[i]) >= 0; i++ {
			if strings.IndexByte("*[]", format[i]) >= 0 {
				begin = -1
			}
		}
		at = append(at, begin)
	}
	return at
}
