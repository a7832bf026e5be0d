package field

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/proof/answers"
)

// The sizes of a comparison of answers.
const (
	// mostCompared is how many recorded requests are compared.
	mostCompared = 1200
	// mostBorders is how many neighbours of them are.
	mostBorders = 800
	// perStep is how many requests of one step are kept.
	perStep = 400
	// askRound bounds one round of requests. What a slow site does not answer in this
	// time is not compared.
	askRound = 12 * time.Second
	// askTimeout bounds one request, in each round.
	askTimeout = 5 * time.Second
	// askWorkers is how many requests are under way at once.
	askWorkers = 3
	// mostUnlike bounds the differences that are reported.
	mostUnlike = 5
)

// SameAnswers implements the Comparer of a search:
//
//  1. make a short run, and record its GET requests;
//  2. restart the app and send them twice: what differs is not compared;
//  3. swap the builds and send them again, on the same data;
//  4. if answers differ, swap back and send those once more: an answer that has
//     changed there as well changes by itself.
//
// The requests go to the app itself, past the web server and its caches.
func (f *Field) SameAnswers(ctx context.Context, spec load.AnswerSpec) (load.AnswerReport, error) {
	f.Subject.Deaths().setTrial(false)
	if err := f.revive(ctx); err != nil {
		return load.AnswerReport{}, err
	}
	defer f.over()
	if err := f.pause(ctx, 0); err != nil {
		return load.AnswerReport{}, err
	}
	asker, err := f.asker(spec.Service)
	if err != nil {
		return load.AnswerReport{}, err
	}
	recorded, err := f.record(ctx, spec)
	if err != nil {
		return load.AnswerReport{}, fmt.Errorf("recording requests to compare answers: %w", err)
	}
	c := &comparison{Field: f, spec: spec, asker: asker}
	c.requests = answers.Choose(recorded, spec.Seed, mostCompared)
	c.requests = mixed(c.requests, answers.Neighbours(c.requests, spec.Seed, mostBorders))
	return c.compare(ctx)
}

// mixed alternates two lists, so that a round that ends early has requests of both.
func mixed(a, b []answers.Request) []answers.Request {
	var out []answers.Request
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			out = append(out, a[i])
		}
		if i < len(b) {
			out = append(out, b[i])
		}
	}
	return out
}

// asker sends requests to an app of this machine, or to its address.
func (f *Field) asker(service string) (answers.Asker, error) {
	svc, ok := f.Subject.Target().Service(service)
	if !ok || cmp.Or(svc.Address, svc.Socket) == "" {
		return answers.Asker{}, fmt.Errorf("comparing answers: the address of %s is not known", service)
	}
	return answers.Asker{Address: cmp.Or(svc.Address, svc.Socket), Workers: askWorkers, Timeout: askTimeout, Host: hostOf(f.Subject.URL())}, nil
}

var urlHost = regexp.MustCompile(`^https?://([^/]+)`)

func hostOf(url string) string {
	if m := urlHost.FindStringSubmatch(url); m != nil {
		return m[1]
	}
	return ""
}

// A Shortener is a Loader whose runs may all be of one length.
type Shortener interface {
	Loader
	// Shortens reports whether it can make runs of another length.
	Shortens() bool
}

// record returns GET requests: those that the access logs have of the latest run if no
// shorter run can be made, else those of a short run that counts for nothing, from the
// load generator if it keeps them and from the access logs otherwise. Requests of access
// logs have no cookies.
func (f *Field) record(ctx context.Context, spec load.AnswerSpec) ([]answers.Request, error) {
	if l, ok := f.Loader.(Shortener); ok && !l.Shortens() {
		if past, err := requestsOf(f.logs); err != nil || len(past) >= leastRecorded {
			return past, err
		}
	}
	return f.recordRun(ctx, spec)
}

// leastRecorded is how many requests of an earlier run are enough.
const leastRecorded = 100

// recordRun makes the short run of record.
func (f *Field) recordRun(ctx context.Context, spec load.AnswerSpec) ([]answers.Request, error) {
	logs := f.accessLogs()
	sample := bench.NewRequestSample(spec.Seed, perStep)
	run, err := f.Loader.Load(ctx, Load{Time: spec.Load, Requests: sample})
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if run.Outcome == iikanji.Failed && run.Took == 0 {
		return nil, &NoLoadError{Scenario: run.Scenario, Reasons: run.Reasons}
	}
	var out []answers.Request
	for _, r := range sample.Requests() {
		out = append(out, answers.Request{Route: r.Step, Path: r.Path, Header: r.Header})
	}
	if len(out) > 0 {
		return out, nil
	}
	return requestsOf(logs)
}

// requestsOf are the GET requests in what logs have grown by.
func requestsOf(logs []grownLog) ([]answers.Request, error) {
	var out []answers.Request
	for _, l := range logs {
		more, err := l.requests()
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// A grownLog is an access log with its size before a run.
type grownLog struct {
	host host.Host
	path string
	from int64
}

// accessLogs are the access logs of the web servers and apps as they are now.
func (f *Field) accessLogs() []grownLog {
	var out []grownLog
	for _, s := range f.Subject.Target().Services {
		path := s.LogPath("access")
		h, err := f.Subject.Site().On(s.Host)
		if path == "" || err != nil {
			continue
		}
		l := grownLog{host: h, path: path}
		if info, err := h.Stat(path); err == nil {
			l.from = info.Size()
		}
		out = append(out, l)
	}
	return out
}

// maxLogRead bounds how much of a log is read for requests, in bytes.
const maxLogRead = 8 << 20

// getLines match the path of a GET in the common forms of access logs: the request
// line itself, and labels with method and URI of their own.
var getLines = []*regexp.Regexp{
	regexp.MustCompile(`\bGET (/[!-~]*?)(?: HTTP/[0-9.]+|["\t\n])`),
	regexp.MustCompile(`\bmethod:GET\t(?:[^\n]*\t)?uri:(/[!-~]*)`),
	regexp.MustCompile(`"uri":"(/[!-~]*?)"[^\n]*"method":"GET"|"method":"GET"[^\n]*"uri":"(/[!-~]*?)"`),
}

// requests are the GET requests in what a log has grown by.
func (l grownLog) requests() ([]answers.Request, error) {
	file, err := l.host.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) { // a log that an observation turned on is gone with it
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading requests of the access log: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.NewSectionReader(file, l.from, maxLogRead))
	if err != nil {
		return nil, fmt.Errorf("reading requests of the access log: %w", err)
	}
	return getsOf(text), nil
}

// hostFields match the name of the virtual host that a client asked for, where a log has it.
var hostFields = []*regexp.Regexp{
	regexp.MustCompile(`\b(?:vhost|http_host|server_name):([A-Za-z0-9.:-]+)`),
	regexp.MustCompile(`"(?:vhost|http_host|host|server_name)":"([A-Za-z0-9.:-]+)"`),
	regexp.MustCompile(`^([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z][A-Za-z0-9-]*)(?::\d+)? \S+ \S+ \S+ \[`), // vhost_combined
}

// getsOf finds the GET requests in a part of an access log.
func getsOf(text []byte) []answers.Request {
	var out []answers.Request
	for _, form := range getLines {
		for line := range bytes.Lines(text) {
			m := form.FindSubmatch(line)
			if m == nil {
				continue
			}
			r := answers.Request{Path: string(slices.Concat(m[1:]...))}
			if r.Path == "" {
				continue
			}
			if host := hostIn(line); host != "" {
				r.Header = [][2]string{{"Host", host}}
			}
			out = append(out, r)
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// hostIn is the virtual host in a line of an access log, "" if it has none.
func hostIn(line []byte) string {
	for _, field := range hostFields {
		if m := field.FindSubmatch(line); m != nil {
			return string(m[1])
		}
	}
	return ""
}

// A comparison is one comparison of answers under way.
type comparison struct {
	*Field
	spec     load.AnswerSpec
	asker    answers.Asker
	requests []answers.Request
	norm     *answers.Norm
	first    []*answers.Answer
	unasked  int // requests for which the old build had no time
}

func (c *comparison) compare(ctx context.Context) (r load.AnswerReport, err error) {
	if err := c.learn(ctx); err != nil {
		return r, err
	}
	c.Subject.Deaths().setTrial(true)
	defer c.Subject.Deaths().setTrial(false)
	if err := c.spec.Swap(ctx, true); err != nil {
		return r, err
	}
	got, err := c.asker.Ask(ctx, c.requests, 2*askRound)
	if err != nil {
		return r, err
	}
	unlike := c.differences(got)
	if len(unlike) > 0 {
		if err := c.spec.Swap(ctx, false); err != nil {
			return r, err
		}
		if unlike, err = c.withoutDrift(ctx, unlike); err != nil {
			return r, err
		}
		if len(unlike) == 0 {
			if err := c.spec.Swap(ctx, true); err != nil {
				return r, err
			}
		}
	}
	r.Answered = c.count(got)
	for _, i := range unlike[:min(len(unlike), mostUnlike)] {
		before, after := answers.Excerpts(c.first[i], got[i])
		r.Unlike = append(r.Unlike, load.Unlike{Request: "GET " + c.requests[i].Path, Why: c.norm.Difference(i, got[i]), Old: before, New: after})
	}
	return r, nil
}

// learn asks the old build twice, freshly started as the new one will be.
func (c *comparison) learn(ctx context.Context) error {
	if err := c.Subject.Restart(ctx, c.spec.Service); err != nil {
		return fmt.Errorf("restarting %s: %w", c.spec.Service, err)
	}
	var err error
	if c.first, err = c.asker.Ask(ctx, c.requests, askRound); err != nil {
		return err
	}
	had := len(c.requests)
	c.requests, c.first = answered(c.requests, c.first), slices.DeleteFunc(c.first, func(a *answers.Answer) bool { return a == nil })
	c.unasked = had - len(c.requests)
	second, err := c.asker.Ask(ctx, c.requests, 2*askRound)
	if err != nil {
		return err
	}
	c.norm = answers.Learn(c.requests, c.first, second, c.spec.AnyOrder)
	return nil
}

// answered are the requests that have an answer.
func answered(requests []answers.Request, got []*answers.Answer) []answers.Request {
	var out []answers.Request
	for i, r := range requests {
		if got[i] != nil {
			out = append(out, r)
		}
	}
	return out
}

// differences are the requests whose new answer is not the old one.
func (c *comparison) differences(got []*answers.Answer) []int {
	var out []int
	for i := range c.requests {
		if c.norm.Difference(i, got[i]) != "" {
			out = append(out, i)
		}
	}
	return out
}

// withoutDrift asks the old build once more for requests whose answers differ, and
// leaves out those that the old build itself answers differently by now.
func (c *comparison) withoutDrift(ctx context.Context, unlike []int) ([]int, error) {
	if len(unlike) > mostUnlike*10 { // too many to be a coincidence
		unlike = unlike[:mostUnlike*10]
	}
	var again []answers.Request
	for _, i := range unlike {
		again = append(again, c.requests[i])
	}
	third, err := c.asker.Ask(ctx, again, askRound)
	if err != nil {
		return nil, err
	}
	var out []int
	for j, i := range unlike {
		if third[j] == nil || c.norm.Difference(i, third[j]) == "" {
			out = append(out, i)
		}
	}
	return out, nil
}

// count sums up what was compared. A difference counts also where the old answer is an error.
func (c *comparison) count(got []*answers.Answer) iikanji.Answered {
	a := iikanji.Answered{Left: c.unasked}
	routes := map[string]bool{}
	for i, r := range c.requests {
		if !c.norm.Compared(i) || got[i] == nil || c.first[i].Status >= http.StatusBadRequest {
			a.Left++ // that two builds refuse a request alike proves nothing of their answers
			continue
		}
		a.Requests++
		routes[r.Route] = true
		if r.Border {
			a.Borders++
		}
	}
	a.Routes = len(routes)
	return a
}
