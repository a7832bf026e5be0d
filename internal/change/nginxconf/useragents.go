package nginxconf

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/change/promise"
	"github.com/iikanji/iikanji/internal/lang/nginx"
)

// refused is the variable that is 1 if a request is refused.
const refused = "$iikanji_refused"

// Limits of the patterns: nginx matches each of them against each request.
const (
	maxPatterns      = 100
	maxPatternLength = 500
)

// refuseUserAgents answers requests whose User-Agent matches an expression with
// an error. They do not reach the app.
type refuseUserAgents struct {
	Patterns string `arg:"patterns,required" help:"regular expressions that Go reads, one a line; none may match a browser's ((?i) at the beginning of one ignores case)"`
	Status   int    `arg:"status" range:"400,599" default:"503" help:"of the answer"`
	Server   string `arg:"server" help:"server_name or listen address of a server block; all that pass requests on by default"`

	expressions []string
}

// Validate is called by change.Decode.
func (a *refuseUserAgents) Validate() error {
	for p := range strings.Lines(a.Patterns) {
		if p = strings.TrimRight(p, "\r\n"); p == "" {
			continue
		}
		if len(p) > maxPatternLength || strings.ContainsAny(p, "\x00\r\n\t") {
			return fmt.Errorf("patterns: %.60q is not a pattern, or is longer than %d bytes", p, maxPatternLength)
		}
		if err := checkPattern(p); err != nil {
			return err
		}
		a.expressions = append(a.expressions, p)
	}
	if len(a.expressions) == 0 || len(a.expressions) > maxPatterns {
		return fmt.Errorf("patterns %.60q: want 1 to %d expressions, one a line", a.Patterns, maxPatterns)
	}
	return nil
}

func (a *refuseUserAgents) edit(t *task) error {
	http, err := t.HTTP()
	if err != nil {
		return err
	}
	t.One = a.Server != ""
	servers, err := t.Servers(a.Server)
	if err != nil {
		return err
	}
	t.agentMap(http, a.expressions)
	for _, s := range servers {
		t.refuseIn(s, strconv.Itoa(a.Status))
	}
	t.Weaken(promise.Refusal()...)
	t.Says = fmt.Sprintf("answer %d to User-Agents that match one of %d expressions", a.Status, len(a.expressions))
	return nil
}

// browsers are User-Agents of common browsers, and none. A pattern that matches
// one of them would refuse the site's visitors.
var browsers = []string{
	"",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
	"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
}

// checkPattern refuses a pattern that matches a browser or that Go does not read
// (lookarounds, mostly): what it matches is unknown then. nginx reads "~*x" as x
// in any case, so a star at the beginning would not be part of the pattern.
func checkPattern(pattern string) error {
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

// agentMap adds the map from User-Agent to refused, or corrects it.
func (t *task) agentMap(http *nginx.Directive, patterns []string) {
	m := nginx.NewBlock("map", "$http_user_agent", refused)
	m.Put(nginx.New("default", "0"))
	for _, p := range patterns {
		m.Put(nginx.New("~"+p, "1"))
	}
	for _, was := range t.Get(http, "map") {
		if was.Arg(1) != refused || was.Block == nil {
			continue
		}
		same := slices.EqualFunc(was.Block.Items, m.Block.Items, func(a, b *nginx.Directive) bool {
			return a.Name() == b.Name() && slices.Equal(a.Args(), b.Args())
		})
		if !same {
			nginx.LayOut(m, was.Indent())
			was.Block = m.Block
		}
		return
	}
	nginxedit.InsertBeforeServers(http, m)
}

// refuseIn adds the condition to a server, before any rewriting.
func (t *task) refuseIn(server *nginx.Directive, status string) {
	for _, d := range t.Get(server, "if") {
		if d.Arg(0) == "("+refused+")" {
			nginxedit.SetIn(t.Conf, d.Directive, "return", status)
			return
		}
	}
	d := nginx.NewBlock("if", "("+refused+")").Put(nginx.New("return", status))
	at := slices.IndexFunc(server.Block.Items, func(d *nginx.Directive) bool {
		return slices.Contains([]string{"if", "rewrite", "return", "break", "location"}, d.Name())
	})
	if at < 0 {
		at = len(server.Block.Items)
	}
	server.Insert(at, d)
}
