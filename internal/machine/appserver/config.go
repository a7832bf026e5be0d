package appserver

import (
	"regexp"
	"strconv"
	"strings"
)

// An entry is an assignment or a directive in a configuration file.
type entry struct {
	from, to int    // of the expression, in bytes
	text     string // of the expression
	line     int
}

// An assignment's name begins a line, so that one within a function, a class or a
// condition is not taken for a setting.
var forms = map[Server]struct{ workers, threads *regexp.Regexp }{
	Gunicorn: {regexp.MustCompile(`(?m)^workers[ \t]*=[ \t]*([^=\s].*)$`), regexp.MustCompile(`(?m)^threads[ \t]*=[ \t]*([^=\s].*)$`)},
	Puma:     {regexp.MustCompile(`(?m)^workers[ \t(]+([^\s=(].*)$`), regexp.MustCompile(`(?m)^threads[ \t(]+([^\s=(].*)$`)},
	Unicorn:  {workers: regexp.MustCompile(`(?m)^worker_processes[ \t(]+([^\s=(].*)$`)},
	PM2:      {workers: regexp.MustCompile(`(?:^|[\s{,])["']?instances["']?[ \t]*:[ \t]*([^\s,}]+)`)},
}

// find returns the last entry of a form, which is the one that counts, and how many
// there are.
func find(text string, form *regexp.Regexp) (e entry, n int) {
	if form == nil {
		return e, 0
	}
	for _, m := range form.FindAllStringSubmatchIndex(text, -1) {
		e = entry{from: m[2], to: m[3], text: text[m[2]:m[3]]}
		e.line = 1 + strings.Count(text[:m[2]], "\n")
		n++
	}
	e.text = withoutComment(e.text)
	e.text = strings.TrimRight(strings.TrimSpace(e.text), ";")
	if strings.HasSuffix(e.text, ")") && strings.Count(e.text, ")") == strings.Count(e.text, "(")+1 {
		e.text = strings.TrimSpace(e.text[:len(e.text)-1]) // of a directive with brackets, as in workers(2)
	}
	e.to = e.from + len(e.text)
	return e, n
}

// scripted is the text of a configuration file with blanks for the comments of a script
// of JavaScript, in which settings are anywhere in a line.
func scripted(s Server, text string) string {
	if s != PM2 {
		return text
	}
	out := []byte(text)
	var quote byte
	for i := 0; i < len(out); i++ {
		end := ""
		switch c := out[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'' || c == '`'):
			quote = c
		case quote == 0 && strings.HasPrefix(text[i:], "//"):
			end = "\n"
		case quote == 0 && strings.HasPrefix(text[i:], "/*"):
			end = "*/"
		}
		if end == "" {
			continue
		}
		n := strings.Index(text[i:], end)
		if n < 0 {
			n = len(text) - i
		}
		for k := range n {
			if out[i+k] != '\n' {
				out[i+k] = ' '
			}
		}
		i += n
	}
	return string(out)
}

// withoutComment cuts a comment at the end of a line. A # within quotes stays.
func withoutComment(text string) string {
	var quote rune
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '#':
			return text[:i]
		}
	}
	return text
}

// closed reports whether the brackets of an expression are closed on its line.
func closed(text string) bool {
	depth := 0
	for _, c := range text {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0 && !strings.HasSuffix(text, "\\") && !strings.HasSuffix(text, ",")
}

// environmentName matches how Python, Ruby and JavaScript read a variable. The last
// group is a default.
var environmentName = regexp.MustCompile(`(?:os\.environ\.get\(|os\.getenv\(|os\.environ\[|\benviron\.get\(|\bgetenv\(|ENV\.fetch\(|ENV\.fetch |ENV\[|process\.env\.|process\.env\[)[ \t]*["']?([A-Z][A-Z0-9_]*)["']?` +
	`(?:[ \t]*,[ \t]*["']?([0-9]+)|[\])]*[ \t]*(?:\|\||\bor\b|\{|\?\?)[ \t]*["']?([0-9]+))?`)

// conditional matches an expression with a condition behind it, as in "2 if production".
var conditional = regexp.MustCompile(`[ \t](if|unless|else)[ \t]`)

var plainNumber = regexp.MustCompile(`^[0-9]{1,4}$`)

// value is the number of an expression: plain, or that of a variable, or its default
// if the variable is not set. name is the variable. n is 0 if it is unknown.
func (e entry) value(env map[string]string) (n int, name string) {
	if plainNumber.MatchString(e.text) {
		n, _ = strconv.Atoi(e.text)
		return n, ""
	}
	m := environmentName.FindStringSubmatch(e.text)
	if m == nil || conditional.MatchString(e.text) {
		return 0, ""
	}
	text, set := env[m[1]]
	if !set {
		text = m[2] + m[3] // at most one of the groups matched
	}
	n, _ = strconv.Atoi(strings.TrimSpace(text)) // 0 for a default that is computed
	return n, m[1]
}

// followed is the expression of a variable of the file, where the entry is only its
// name.
func (e entry) followed(text string) entry {
	if !localName.MatchString(e.text) {
		return e
	}
	set, n := find(text, regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(e.text)+`[ \t]*=[ \t]*([^=\s].*)$`))
	if n != 1 {
		return e
	}
	return set
}

var localName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// most is the entry of the larger of puma's two numbers of threads: the last one.
func (e entry) most() (least, most entry) {
	body := e.text
	depth, at := 0, -1
	for i, c := range body {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				at = i
			}
		}
	}
	if at < 0 {
		return e, e
	}
	second := strings.TrimLeft(body[at+1:], " \t")
	from := e.from + len(body) - len(second)
	least = entry{from: e.from, to: e.from + at, text: strings.TrimSpace(body[:at]), line: e.line}
	return least, entry{from: from, to: from + len(second), text: second, line: e.line}
}

// WithConfig is the text of a configuration file with other numbers; 0 leaves one as
// it is. A setting that the file does not have is added at its end.
func WithConfig(s Server, text string, workers, threads int) (string, error) {
	var err error
	if workers > 0 {
		if text, err = replaced(s, text, false, workers); err != nil {
			return "", err
		}
	}
	if threads > 0 {
		text, err = replaced(s, text, true, threads)
	}
	return text, err
}

func replaced(s Server, text string, ofThreads bool, n int) (string, error) {
	form, what := forms[s].workers, "the number of workers"
	if ofThreads {
		form, what = forms[s].threads, "the number of threads"
	}
	if form == nil {
		return "", &UnreadableError{s, "a setting of its configuration file", what}
	}
	number := strconv.Itoa(n)
	e, count := find(scripted(s, text), form)
	if count == 0 {
		return appended(s, text, ofThreads, number)
	}
	if s != PM2 && !closed(e.text) || s == PM2 && count > 1 {
		return "", &UnreadableError{s, "line " + strconv.Itoa(e.line), what}
	}
	if s == Puma && ofThreads {
		least, most := e.most()
		if now, err := strconv.Atoi(least.text); least != most && (err != nil || now > n) {
			return text[:least.from] + number + text[least.to:most.from] + number + text[most.to:], nil
		}
		return text[:most.from] + number + text[most.to:], nil
	}
	return text[:e.from] + number + text[e.to:], nil
}

// appended adds a setting to a file that does not have it.
func appended(s Server, text string, ofThreads bool, number string) (string, error) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	switch {
	case s == Gunicorn && ofThreads:
		return text + "threads = " + number + "\n", nil
	case s == Gunicorn:
		return text + "workers = " + number + "\n", nil
	case s == Puma && ofThreads:
		return text + "threads " + number + ", " + number + "\n", nil
	case s == Puma:
		return text + "workers " + number + "\n", nil
	case s == Unicorn:
		return text + "worker_processes " + number + "\n", nil
	}
	return "", &UnreadableError{s, "a setting of its configuration file", "the number of workers"}
}
