// Command pagecaches compares nginx's cache and Varnish on the arena isublog: each
// keeps all pages until a write (kind httpcache, acts nginx and varnish) on a site that is tuned
// alike otherwise (the server's query cache, a larger buffer pool, static files from nginx).
//
//	go run ./bench/pagecaches -iikanji ./iikanji
//
// It prepares a work folder for each of the three sites (no cache, nginx, Varnish), then
// has iikanji bench load them in turns, and prints a row for each: the median score, its
// ratio to the site without a cache as the median of the turns with the least and the most,
// the share of the pages that the app did not compute, and the CPU time of a request by
// service. Where the load generator was the limit of a load, the site could have answered
// more: its score and ratio are lower bounds then, and have the sign ≥. Times are valid on
// a quiet machine only; ratios are within one turn.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	_ "github.com/iikanji/iikanji/arenas/all"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/arenasite"
)

func main() {
	stack.MaybeSupervise()
	var l lab
	flag.StringVar(&l.program, "iikanji", "", "the program iikanji, built from this source")
	flag.StringVar(&l.dir, "dir", "", "folder for the work folders (default: a temporary one)")
	flag.DurationVar(&l.load, "load", 20*time.Second, "length of each load")
	flag.StringVar(&l.pin, "pin", "auto", "CPUs of the load generator and of the site, as in iikanji bench")
	flag.IntVar(&l.turns, "turns", 5, "loads of each site")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := l.run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench/pagecaches:", err)
		os.Exit(1)
	}
}

const arenaName = "isublog"

// A lab is one comparison.
type lab struct {
	program, dir, pin string
	load              time.Duration
	turns             int
}

// A subject is one site with what its loads measured.
type subject struct {
	name   string
	remedy iikanji.Remedy // of its cache
	runs   []measured
}

// A measured is one load.
type measured struct {
	score float64
	least bool                     // the load generator was the limit: the score is a lower bound
	hits  float64                  // share of the pages that the app did not compute
	cpu   map[string]time.Duration // of a request, by service
}

// tuned are the changes that all sites have.
var tuned = []iikanji.Remedy{
	{Kind: "mysqlconf", Target: "database", Args: map[string]string{"query_cache_type": "1", "query_cache_size": "16M", "innodb_buffer_pool_size": "128M"}},
	{Kind: "nginxconf", Target: "nginx", Args: map[string]string{"act": "static files", "path": "/js"}},
	{Kind: "nginxconf", Target: "nginx", Args: map[string]string{"act": "static files", "path": "/css"}},
	{Kind: "nginxconf", Target: "nginx", Args: map[string]string{"act": "static files", "path": "/images"}},
}

// subjects are the sites. The checks of the arena hold that pages are the same for all.
func subjects() []*subject {
	keep := func(act string, more ...string) iikanji.Remedy {
		args := map[string]string{"act": act, "path": "/;/article/:id", "valid": "10s", "cookies": "ignore"}
		for i := 0; i < len(more); i += 2 {
			args[more[i]] = more[i+1]
		}
		return iikanji.Remedy{Kind: "httpcache", Target: "nginx", Args: args, Proof: []iikanji.Proof{iikanji.SameForAll}}
	}
	return []*subject{{name: "no cache"}, {name: "nginx", remedy: keep("nginx")}, {name: "varnish", remedy: keep("varnish", "writes", "purge")}}
}

// run prepares the sites, loads them in turns, and writes the table.
func (l *lab) run(ctx context.Context, w io.Writer) (err error) {
	if l.program == "" {
		return errors.New("-iikanji: want the path of the program")
	}
	if l.dir == "" {
		if l.dir, err = os.MkdirTemp("", "pagecaches"); err != nil {
			return err
		}
		defer os.RemoveAll(l.dir)
	}
	all := subjects()
	for _, s := range all {
		if err := l.prepare(ctx, s); err != nil {
			return fmt.Errorf("preparing the site with %s: %w", s.name, err)
		}
	}
	for turn := range l.turns {
		for i := range all {
			s := all[(turn+i)%len(all)] // each site is at each place of a turn
			m, err := l.measure(ctx, s)
			if err != nil {
				return fmt.Errorf("loading the site with %s: %w", s.name, err)
			}
			s.runs = append(s.runs, m)
			fmt.Fprintf(os.Stderr, "turn %d, %s: %.0f, %.1f %% from the cache\n", turn+1, s.name, m.score, 100*m.hits)
		}
	}
	return print(w, all)
}

// prepare makes the changes of a site in a work folder of its own.
func (l *lab) prepare(ctx context.Context, s *subject) error {
	a, ok := arena.Find(arenaName)
	if !ok {
		return fmt.Errorf("there is no arena %s", arenaName)
	}
	up, err := stack.Up(ctx, a, stack.Options{Dir: l.folder(s)})
	if err != nil {
		return err
	}
	wired, closeSite, err := arenasite.Of(ctx, up)
	if err != nil {
		return errors.Join(err, up.Down(ctx))
	}
	remedies := slices.Clone(tuned)
	if s.remedy.Kind != "" {
		remedies = append(remedies, s.remedy)
	}
	for _, r := range remedies {
		if err = perform(ctx, wired, r); err != nil {
			err = fmt.Errorf("%s %v: %w", r.Kind, r.Args, err)
			break
		}
	}
	return errors.Join(err, closeSite(), up.Down(ctx))
}

func perform(ctx context.Context, wired *change.Site, r iikanji.Remedy) error {
	c, err := change.Plan(ctx, wired, r)
	if errors.Is(err, change.ErrNothing) {
		return nil // the folder is of an earlier comparison
	}
	if err != nil {
		return err
	}
	for _, op := range c.Do {
		if err := wired.Perform(ctx, op); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) folder(s *subject) string {
	return filepath.Join(l.dir, strings.ReplaceAll(s.name, " ", "-"))
}

// measure has iikanji load a site.
func (l *lab) measure(ctx context.Context, s *subject) (m measured, err error) {
	out, failed := exec.CommandContext(ctx, l.program, "bench", arenaName, "--dir", l.folder(s), "--load", l.load.String(), "--pin", l.pin, "--json").Output()
	var run iikanji.Run
	if err := json.Unmarshal(out, &run); err != nil {
		return m, errors.Join(failed, err)
	}
	if failed != nil && !run.Load.Void {
		return m, fmt.Errorf("%w: the run %s: %v", failed, run.Outcome, run.Reasons)
	}
	if run.Score <= 0 || run.Load.Requests == 0 || len(run.Usage) == 0 {
		return m, fmt.Errorf("the run has the score %g and CPU times of %d services: %v", run.Score, len(run.Usage), run.Reasons)
	}
	m = measured{score: run.Score, least: run.Load.Void, cpu: map[string]time.Duration{}}
	for _, u := range run.Usage {
		m.cpu[u.Who] = time.Duration(float64(u.User+u.System) / float64(run.Load.Requests))
	}
	m.hits, err = hits(filepath.Join(l.folder(s), "log"))
	return m, err
}

// Requests for pages in the log of nginx and in that of the app.
var (
	atNginx = regexp.MustCompile(`"GET (/|/article/[0-9]+) HTTP`)
	atApp   = regexp.MustCompile(`"method":"GET","uri":"(/|/article/[0-9]+)"`)
)

// mostProbes is the most pages that the app may compute for requests past nginx: the stack
// asks whether it is ready.
const mostProbes = 10

// hits is the share of the pages that the app did not compute, by the logs of the last
// time that the site was up: each time begins new logs, and renames the old ones.
func hits(dir string) (float64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	asked, computed := 0, 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".1") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, err
		}
		asked += len(atNginx.FindAllIndex(text, -1))
		computed += len(atApp.FindAllIndex(text, -1))
	}
	if asked == 0 || computed == 0 || computed > asked+mostProbes {
		return 0, fmt.Errorf("the logs have %d pages at nginx and %d at the app", asked, computed)
	}
	return max(0, 1-float64(computed)/float64(asked)), nil
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// print writes the table.
func print(w io.Writer, all []*subject) error {
	const generator = "generator"
	services := []string{"nginx", "pages", "stored", "app", "database"}
	t := report.Table{Columns: []report.Column{{Name: "cache"}, {Name: "score"}, {Name: "ratio"}, {Name: "from the cache"}}}
	shown := append(slices.Clone(services), "all", generator)
	for _, s := range shown {
		t.Columns = append(t.Columns, report.Column{Name: "µs " + s})
	}
	for _, s := range all {
		var scores, ratios, kept []float64
		cpu := map[string][]float64{}
		sign := ""
		for i, m := range s.runs {
			if m.least {
				sign = "≥ "
			}
			scores, ratios, kept = append(scores, m.score), append(ratios, m.score/all[0].runs[i].score), append(kept, 100*m.hits)
			sum := 0.0
			for _, name := range services {
				us := float64(m.cpu[name]) / 1000
				cpu[name], sum = append(cpu[name], us), sum+us
			}
			cpu["all"] = append(cpu["all"], sum)
			cpu[generator] = append(cpu[generator], float64(m.cpu[generator])/1000)
		}
		row := []string{s.name, sign + fmt.Sprintf("%.0f", median(scores)), sign + fmt.Sprintf("%.2f (%.2f–%.2f)", median(ratios), slices.Min(ratios), slices.Max(ratios)), fmt.Sprintf("%.1f %%", median(kept))}
		for _, name := range shown {
			row = append(row, fmt.Sprintf("%.0f", median(cpu[name])))
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Write(w, report.Markdown, 0)
}
