package nginx

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Pattern is what a location matches: the modifier ("", "=", "^~", "~", "~*",
// "@") and the text.
type Pattern struct{ How, What string }

// PatternOf reads the arguments of a location. nginx also accepts modifier and
// text as one word.
func PatternOf(d *Directive) Pattern {
	args := d.Args()
	switch {
	case len(args) == 2:
		return Pattern{args[0], args[1]}
	case len(args) != 1:
		return Pattern{}
	}
	for _, how := range []string{"=", "^~", "~*", "~", "@"} {
		if rest, ok := strings.CutPrefix(args[0], how); ok {
			return Pattern{how, rest}
		}
	}
	return Pattern{"", args[0]}
}

// IsPrefix reports whether the location matches by prefix.
func (p Pattern) IsPrefix() bool { return p.How == "" || p.How == "^~" }

// IsExpression reports whether the location matches by a regular expression.
func (p Pattern) IsExpression() bool { return p.How == "~" || p.How == "~*" }

func (p Pattern) String() string { return strings.TrimSpace(p.How + " " + p.What) }

// NewLocation makes an empty location block of a pattern.
func (p Pattern) NewLocation() *Directive {
	switch p.How {
	case "":
		return NewBlock("location", p.What)
	case "@":
		return NewBlock("location", "@"+p.What)
	}
	return NewBlock("location", p.How, p.What)
}

// Matches reports whether the expression of a location matches a path; an expression
// that cannot be read is an error.
func (p Pattern) Matches(path string) (bool, error) {
	m, err := p.captures(path)
	return m != nil, err
}

// captures are what the match of a location's regular expression captured; nil if
// the expression does not match.
func (p Pattern) captures(path string) (*captured, error) {
	m, err := matchExpression(p.What, path, p.How == "~*")
	if err != nil {
		return nil, fmt.Errorf("cannot tell whether location %s answers %s: %w", p, path, err)
	}
	return m, nil
}

// Captured are the groups of the latest match.
type captured struct {
	groups []string          // $0, $1 …
	named  map[string]string // by the names of groups
}

// keep adds the named groups of the match before.
func (m *captured) keep(before *captured) {
	if before == nil {
		return
	}
	for name, text := range before.named {
		if _, ok := m.named[name]; !ok {
			m.named[name] = text
		}
	}
}

// matchExpression matches an expression of PCRE as nginx does, byte by byte. Go's
// dialect is nearly the same; an expression that Go does not read is an error.
func matchExpression(expression, text string, ignoreCase bool) (*captured, error) {
	bytewise := eachByte(expression)
	if ignoreCase {
		bytewise = "(?i)" + bytewise
	}
	re, err := regexp.Compile(bytewise)
	if err != nil {
		return nil, err
	}
	subject := eachByte(text)
	at := re.FindStringSubmatchIndex(subject)
	if at == nil {
		return nil, nil
	}
	m := &captured{named: map[string]string{}}
	for i, name := range re.SubexpNames() {
		group := ""
		if at[2*i] >= 0 {
			group = bytesAgain(subject[at[2*i]:at[2*i+1]])
		}
		m.groups = append(m.groups, group)
		if name != "" {
			m.named[name] = group
		}
	}
	return m, nil
}

// byteRune is the first of 256 private characters that stand for bytes: Go's
// expressions match characters, and nginx's match bytes.
const byteRune = 0xF700

// eachByte writes each byte that is not ASCII as one character without a case.
func eachByte(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if text[i] < 0x80 {
			b.WriteByte(text[i])
		} else {
			b.WriteRune(byteRune + rune(text[i]))
		}
	}
	return b.String()
}

// bytesAgain undoes eachByte.
func bytesAgain(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= byteRune+0x80 && r <= byteRune+0xFF {
			b.WriteByte(byte(r - byteRune))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// A Found is the location that nginx selects for a path.
type Found struct {
	Scope // of the server itself if no location matches
	// Redirects is set if nginx sends the client to the location's path, which is
	// the requested one with a slash at its end.
	Redirects bool
	captured  *captured // of the location's expression, if it was selected by one
}

// Location selects the location for a normal path (see [NormalPath]) in a server:
// the exact one; else the first regular expression in the order of the file, those
// inside the longest prefix first, unless that prefix forbids them by "^~"; else
// the longest prefix. An expression that cannot be read is an error.
func (s Scope) Location(path string) (Found, error) {
	return lookup{expressions: true}.locate(s, path)
}

// LocationWithout is Location as if a location of the server did not exist.
func (s Scope) LocationWithout(path string, without *Directive) (Found, error) {
	return lookup{expressions: true, without: without}.locate(s, path)
}

// Folder selects the location by prefix, without any regular expression.
func (s Scope) Folder(path string) Found {
	f, _ := lookup{}.locate(s, path)
	return f
}

// A lookup is a way to select a location.
type lookup struct {
	expressions bool
	without     *Directive
}

// The outcomes of a search in one block, by the names in nginx's source
// (ngx_http_core_find_location).
type outcome int

const (
	declined outcome = iota // no location matches
	again                   // a prefix matches: an expression may follow
	found                   // exactly, or by an expression
	redirect                // with a slash at the end
)

func (l lookup) locate(s Scope, path string) (Found, error) {
	f := Found{Scope: s}
	how, err := l.search(&f, path)
	f.Redirects = how == redirect
	return f, err
}

// search goes from the block in f to the location in it that answers.
func (l lookup) search(f *Found, path string) (outcome, error) {
	if len(f.Chain) > maxDepth {
		return declined, fmt.Errorf("locations are nested deeper than %d", maxDepth)
	}
	locations := slices.DeleteFunc(f.Blocks("location"), func(s Scope) bool { return s.Last() == l.without })
	how := static(locations, f, path)
	tryExpressions := l.expressions
	if how == again {
		tryExpressions = tryExpressions && PatternOf(f.Last()).How != "^~"
		var err error
		if how, err = l.search(f, path); err != nil {
			return how, err
		}
		if how == declined {
			how = again
		}
	}
	if how == found || how == redirect || !tryExpressions {
		return how, nil
	}
	for _, at := range locations {
		p := PatternOf(at.Last())
		if !p.IsExpression() {
			continue
		}
		m, err := p.captures(path)
		if err != nil {
			return how, err
		}
		if m != nil {
			m.keep(f.captured)
			f.Scope, f.captured = at, m
			inside, err := l.search(f, path)
			if inside == redirect {
				inside = found // nginx forgets it here
			}
			return max(inside, found), err
		}
	}
	return how, nil
}

// static finds the location that is exactly a path, or else the one with the
// longest prefix of it.
func static(locations []Scope, f *Found, path string) outcome {
	how, longest := declined, -1
	var slash *Scope // the location of the path with a slash at its end, the exact one if there are two
	slashPasses := false
	for i, at := range locations {
		p := PatternOf(at.Last())
		switch {
		case p.How == "=" && p.What == path:
			f.Scope = at
			return found
		case p.IsPrefix() && strings.HasPrefix(path, p.What) && len(p.What) > longest:
			how, longest, f.Scope = again, len(p.What), at
		case (p.How == "=" || p.IsPrefix()) && p.What == path+"/":
			slashPasses = slashPasses || at.passesOn()
			if slash == nil || p.How == "=" {
				slash = &locations[i]
			}
		}
	}
	if slashPasses && longest < len(path) {
		f.Scope = *slash
		return redirect
	}
	return how
}

// passesOn reports whether a location has a directive that passes requests on.
func (s Scope) passesOn() bool {
	return slices.ContainsFunc(passing, func(name string) bool { return len(s.Own(name)) > 0 })
}

// named is the location of a server with a name, as "@app".
func (s Scope) named(name string) (Scope, bool) {
	for _, l := range s.Blocks("location") {
		if l.Last().Arg(0) == name {
			return l, true
		}
	}
	return Scope{}, false
}
