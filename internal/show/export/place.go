package export

import (
	"regexp"
	"slices"
	"strings"
)

// A Place is a part of a stack's folder that has another path on other machines.
type Place struct {
	// Path is a file or folder below the stack's folder, with slashes; "" is the
	// folder itself.
	Path string
	// Var is the shell variable that holds the other path, as in "NGINX_CONF".
	Var string
	// Says describes the value of Var for people.
	Says string
	// Default is the value if Var is not set; "" if it must be set.
	Default string
}

// addressVar is the variable of the application's address in nginx's files.
const addressVar = "APP_ADDRESS"

// passedTo matches an address that nginx passes requests on to.
var passedTo = regexp.MustCompile(`(?m)^[ +-]?\s*(?:(?:location|upstream)[^\n]*\{\s*)?(?:proxy_pass\s+http://|server\s+)((?:\d{1,3}\.){3}\d{1,3}:\d{2,5}|localhost:\d{2,5})`)

// findAddress makes the one address that the nginx files pass requests on to a
// place: the port differs between machines, and a patch with it would fit only
// where it is the same. Several addresses stay as they are.
func (o *Options) findAddress(files []file) {
	o.Places, o.address = slices.Clone(o.Places), ""
	for _, f := range files {
		if !isNginx(f.rel) {
			continue
		}
		for _, m := range passedTo.FindAllStringSubmatch(string(f.old)+"\n"+string(f.new), -1) {
			if o.address != "" && o.address != m[1] {
				o.address = ""
				return
			}
			o.address = m[1]
		}
	}
	if o.address != "" {
		o.Places = append(o.Places, Place{Path: "\x00", Var: addressVar, Default: o.address,
			Says: "the address of the application in nginx's configuration, as 127.0.0.1:8080"})
	}
}

// isNginx reports whether a file in the stack's folder is of nginx's configuration.
func isNginx(rel string) bool { return strings.HasPrefix(rel, "conf/nginx") }

// portableFile is portable for the text of a file: in nginx's files the
// application's address becomes a token too.
func (o *Options) portableFile(rel, text string) string {
	text = o.portable(text)
	if o.address == "" || !isNginx(rel) {
		return text
	}
	whole := regexp.MustCompile(`(^|[^0-9.])` + regexp.QuoteMeta(o.address) + `($|[^0-9])`)
	return whole.ReplaceAllString(text, "${1}"+Place{Var: addressVar}.token()+"${2}")
}

// Options describe the stack in which the changes were made.
type Options struct {
	Name string // of the target, for people
	// Root is the absolute path of the folder that contains every changed file.
	Root string
	// Places have paths of their own on other machines. The longest matching
	// Path applies; a path that matches none is relative to the variable SITE.
	Places []Place

	// Literals keeps what may be a secret. Without it, what is for readers is
	// redacted.
	Literals bool

	address string // of the application in nginx's files; "" if none or several
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
