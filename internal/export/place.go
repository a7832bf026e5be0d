package export

import "strings"

// A Place is a part of a stack's folder that has another path on other machines.
type Place struct {
	// Path is a file or folder below the stack's folder, with slashes; "" is the
	// folder itself.
	Path string
	// Var is the shell variable that holds the other path, as in "NGINX_CONF".
	Var string
	// Says describes the value of Var for people.
	Says string
}

// Options describe the stack in which the changes were made.
type Options struct {
	Name string // of the target, for people
	// Root is the absolute path of the folder that contains every changed file.
	Root string
	// Places have paths of their own on other machines. The longest matching
	// Path applies; a path that matches none is relative to the variable SITE.
	Places []Place
}

var site = Place{Var: "SITE", Says: "the folder that corresponds to the arena's work folder"}

// placeOf returns the place that contains a path below the root, and the path
// inside of it.
func (o *Options) placeOf(rel string) (p Place, rest string) {
	p, rest = site, rel
	for _, q := range o.Places {
		after, ok := strings.CutPrefix(rel, q.Path)
		if ok && (after == "" || after[0] == '/') && len(q.Path) > len(p.Path) {
			p, rest = q, strings.TrimPrefix(after, "/")
		}
	}
	return p, rest
}

// token is the text that replaces a place's path in portable files.
func (p Place) token() string { return "@IIKANJI_" + p.Var + "@" }

// portable replaces paths below the root by tokens, which apply.sh replaces by
// the paths of the other machine.
func (o *Options) portable(text string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, o.Root)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		after := text[i+len(o.Root):]
		starts := i == 0 || endsPath(text[i-1]) || text[i-1] == '+' || text[i-1] == '-' // the mark of a diff line
		b.WriteString(text[:i])
		if !starts || after != "" && after[0] != '/' && !endsPath(after[0]) { // /a/isu2 is not inside /a/isu
			b.WriteString(o.Root)
			text = after
			continue
		}
		end := strings.IndexFunc(after, func(r rune) bool { return r < 0x80 && endsPath(byte(r)) })
		if end < 0 {
			end = len(after)
		}
		p, rest := o.placeOf(strings.Trim(after[:end], "/"))
		b.WriteString(p.token())
		if rest != "" {
			b.WriteString("/" + rest)
		}
		text = after[end:]
	}
}

// endsPath reports whether a byte cannot be in an unquoted path of a configuration.
func endsPath(b byte) bool { return strings.IndexByte(" \t\r\n\"'`;,(){}:=|&<>$", b) >= 0 }

// used lists the places whose tokens occur in any of the texts.
func (o *Options) used(texts []string) (used []Place) {
	for _, p := range append([]Place{site}, o.Places...) {
		for _, t := range texts {
			if strings.Contains(t, p.token()) {
				used = append(used, p)
				break
			}
		}
	}
	return used
}
