package nginxconf

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// refused is the variable that says that a request is not answered.
const refused = "$iikanji_refused"

// Bounds of patterns: each is tried on each request.
const (
	maxPatterns      = 100
	maxPatternLength = 500
)

// editAgents answers requests whose User-Agent matches one of some expressions
// with an error, before anybody is asked.
func editAgents(t *task) error {
	patterns, err := t.patterns()
	if err != nil {
		return err
	}
	status := 503
	if t.args["status"] != "" {
		if status, err = t.number("status", 400, 599); err != nil {
			return err
		}
	}
	http, err := t.http()
	if err != nil {
		return err
	}
	servers, err := t.servers(t.args["server"])
	if err != nil {
		return err
	}
	t.agentMap(http, patterns)
	for _, s := range servers {
		t.refuseIn(s, strconv.Itoa(status))
	}
	t.says = fmt.Sprintf("answer %d to the User-Agents that match %d expressions", status, len(patterns))
	return nil
}

func (t *task) patterns() ([]string, error) {
	var patterns []string
	for p := range strings.Lines(t.args["patterns"]) {
		if p = strings.TrimRight(p, "\r\n"); p == "" {
			continue
		}
		if len(p) > maxPatternLength || strings.ContainsAny(p, "\x00\r\n\t") {
			return nil, fmt.Errorf("patterns: %.60q is none, or too long", p)
		}
		if re, err := regexp.Compile(p); err == nil && re.MatchString("") {
			return nil, fmt.Errorf("patterns: %q matches every User-Agent", p)
		}
		patterns = append(patterns, p)
	}
	if len(patterns) == 0 || len(patterns) > maxPatterns {
		return nil, fmt.Errorf("patterns %.60q: want 1 to %d expressions, one a line", t.args["patterns"], maxPatterns)
	}
	return patterns, nil
}

// agentMap makes the map from User-Agent to refused, or corrects it.
func (t *task) agentMap(http *directive, patterns []string) {
	m := newBlock("map", "$http_user_agent", refused)
	m.put(newDirective("default", "0"))
	for _, p := range patterns {
		m.put(newDirective("~"+p, "1"))
	}
	for _, was := range t.get(http, "map") {
		if was.arg(1) != refused {
			continue
		}
		same := slices.EqualFunc(was.body.items, m.body.items, func(a, b *directive) bool {
			return a.name() == b.name() && slices.Equal(a.args(), b.args())
		})
		if !same {
			layOut(m, lineIndent(was.directive))
			was.body = m.body
		}
		return
	}
	insertBeforeServers(http, m)
}

// refuseIn has a server refuse, before it rewrites anything.
func (t *task) refuseIn(server *directive, status string) {
	for _, d := range t.get(server, "if") {
		if d.arg(0) == "("+refused+")" {
			setIn(t.conf, d.directive, "return", status)
			return
		}
	}
	d := newDirective("if")
	d.words = append(d.words, word{" ", "(" + refused + ")"})
	d.tail, d.body = " ", &block{}
	d.put(newDirective("return", status))
	at := slices.IndexFunc(server.body.items, func(d *directive) bool {
		return slices.Contains([]string{"if", "rewrite", "return", "break", "location"}, d.name())
	})
	if at < 0 {
		at = len(server.body.items)
	}
	outer := lineIndent(server)
	server.body.insert(at, d, outer, outer+indentStep)
}
