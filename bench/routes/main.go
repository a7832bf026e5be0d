// Command routes measures how well iikanji access learns routes: it generates
// the logs of sites whose true routes are known (package sites) and prints the
// share of requests on exactly the right route, precision and recall. `make
// bench` runs it; the floor of the figures is a test of internal/logs/accesslog.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/iikanji/iikanji/bench/routes/sites"
	"github.com/iikanji/iikanji/internal/logs/accesslog"
	"github.com/iikanji/iikanji/internal/logs/lines"
)

func main() {
	only := flag.String("only", "", "measure the sets whose title contains this")
	show := flag.Bool("show", false, "print the wrong routes of each site")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	sets := []set{{"sites by which the learner was developed", sites.Tuned},
		{"sites written after it", sites.Heldback}, {"sites written last", sites.Fresh}, {"other kinds of sites", sites.OtherKinds},
		{"sites whose links decide", sites.Linked}, {"sites with segments of two parts", sites.Parts}}
	used, kept := sites.Improve(sites.Sixty)
	for _, n := range sites.Lengths {
		sets = append(sets, set{fmt.Sprintf("45 of 60 sites, by which the learner was improved, %d lines", n), sites.Cut(used, n)},
			set{fmt.Sprintf("the 15 others, %d lines", n), sites.Cut(kept, n)})
	}
	for _, set := range sets {
		if !strings.Contains(set.title, *only) {
			continue
		}
		if err := table(ctx, os.Stdout, set.title, set.all, *show); err != nil {
			fmt.Fprintln(os.Stderr, "routes:", err)
			os.Exit(1)
		}
	}
}

// A set is a table of sites.
type set struct {
	title string
	all   []sites.Site
}

// table measures some sites and prints a row for each, and with show the wrong routes.
func table(ctx context.Context, w io.Writer, title string, all []sites.Site, show bool) error {
	fmt.Fprintf(w, "%s\n%-50s %8s %7s %8s %7s %10s %7s\n", title, "", "requests", "routes", "learned", "exact", "precision", "recall")
	var share, precision, recall float64
	for i := range all {
		s, err := measure(ctx, &all[i])
		if err != nil {
			return fmt.Errorf("measuring %s: %w", all[i].Name, err)
		}
		fmt.Fprintf(w, "%-50s %8d %7d %8d %6.1f%% %10.2f %7.2f\n", all[i].Name, s.Requests, s.Routes, s.Learned, 100*s.Share(), s.Precision(), s.Recall())
		if show {
			for _, r := range s.Wrong {
				fmt.Fprintf(w, "    %8d  %-50s is %s\n", r.Requests, r.Learned, strings.Join(r.Routes, ", "))
			}
		}
		share, precision, recall = share+s.Share(), precision+s.Precision(), recall+s.Recall()
	}
	n := float64(len(all))
	_, err := fmt.Fprintf(w, "%-50s %8s %7s %8s %6.1f%% %10.2f %7.2f\n\n", "mean", "", "", "", 100*share/n, precision/n, recall/n)
	return err
}

// measure reads the log of a site and compares the learned routes with the
// true ones.
func measure(ctx context.Context, s *sites.Site) (sites.Score, error) {
	all := s.Requests()
	var b bytes.Buffer
	if err := sites.Write(&b, all); err != nil {
		return sites.Score{}, err
	}
	p, err := accesslog.Read(ctx, []*lines.Input{lines.Bytes("access.log", b.Bytes())}, accesslog.Options{})
	if err != nil {
		return sites.Score{}, err
	}
	routes, err := accesslog.RoutesOf(p)
	if err != nil {
		return sites.Score{}, err
	}
	var learned []string
	for _, q := range all {
		learned = append(learned, routes.Find(q.Method, q.Path, q.Status))
	}
	return sites.Compare(all, learned), nil
}
