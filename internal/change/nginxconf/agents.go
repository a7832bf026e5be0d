package nginxconf

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
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
	t.weaken(iikanji.Availability)
	t.says = fmt.Sprintf("answer %d to the User-Agents that match %d expressions", status, len(patterns))
	return nil
}

// browsers are User-Agents of people. A pattern that matches one of them would
// turn the site's own visitors away, whatever it is meant for.
var browsers = []string{
	"",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
	"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
}

// refusable says why a pattern may not be refused. nginx reads "~*x" as x in
// any case, so that a star in front would not be the pattern's. What Go does
// not read (lookarounds, above all) nobody here can judge.
func refusable(pattern string) error {
	if strings.HasPrefix(pattern, "*") {
		return fmt.Errorf("patterns: %q begins with a star, which repeats nothing", pattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("patterns: cannot tell what %q matches: %w", pattern, err)
	}
	if i := slices.IndexFunc(browsers, re.MatchString); i >= 0 {
		return fmt.Errorf("patterns: %q matches a usual User-Agent, %q", pattern, browsers[i])
	}
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
		if err := refusable(p); err != nil {
			return nil, err
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
