// Command load compares the cost of a request in load generators: package bench,
// wrk, hey, vegeta, isucandar's agent and k6, each on one core, with one nginx on
// another core as the target. `make bench` runs it. It is not a test: it prints a
// table with the measured ratios and their goals.
//
//  1. It starts nginx in a new folder, with one worker and one file of 1 KiB.
//  2. It builds the peers at exact versions into .cache/peers. It leaves out an
//     unavailable peer and prints a line.
//  3. In each round every tool runs once, in turn, so that other work on the
//     machine affects all tools. Ratios are computed within a round.
//  4. The table shows medians of the CPU time per request of the whole process.
//
// With -h2 it compares package bench over HTTP/2 with h2load instead, with and without
// TLS, on the same numbers of connections and streams.
//
// With -calibrate it measures instead when the generator is the limit, for the
// thresholds in internal/load/bench/limit.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// conns is the number of connections that every tool holds open.
const conns = 64

// The cores of the generator and of its target.
const (
	genCore    = 0
	targetCore = 1
)

type options struct {
	rounds    int
	time      time.Duration
	only      string
	calibrate bool
	h2        bool
}

func main() {
	runtime.LockOSThread() // Pdeathsig kills children when the thread that started them ends
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/load:", err)
		os.Exit(1)
	}
}

func run() error {
	var o options
	var role, target, samples, profile, file string
	var sc fetch
	var st strain
	flag.IntVar(&o.rounds, "rounds", 5, "number of runs of each tool")
	flag.DurationVar(&o.time, "time", 4*time.Second, "length of each run")
	flag.StringVar(&o.only, "only", "", "run only iikanji, wrk and the tools whose names contain this text")
	flag.BoolVar(&o.calibrate, "calibrate", false, "measure when the generator is the limit")
	flag.BoolVar(&o.h2, "h2", false, "compare with h2load over HTTP/2")
	flag.StringVar(&role, "role", "", "for children: engine, target, strain")
	flag.StringVar(&target, "url", "", "for children: the URL of the target")
	flag.BoolVar(&sc.browser, "browser", false, "for the engine: cookies, gzip and cache")
	flag.IntVar(&sc.actors, "conns", conns, "for the engine: browsers, with one connection each")
	flag.IntVar(&sc.streams, "streams", 0, "for the engine: HTTP/2 with so many streams of each connection")
	flag.StringVar(&file, "want", "", "for the engine: the file to compare with (default: fetch it)")
	flag.StringVar(&samples, "samples", "", "for the engine: keep raw samples in this folder")
	flag.StringVar(&profile, "cpuprofile", "", "for the engine: write a CPU profile")
	flag.IntVar(&st.serve, "serve", 0, "for strain: CPU µs of the target per request")
	flag.IntVar(&st.work, "work", 0, "for strain: CPU µs of the generator per answer")
	flag.IntVar(&st.actors, "actors", 0, "for strain: number of actors")
	flag.Parse()
	switch role {
	case "engine":
		if file != "" {
			var err error
			if sc.want, err = os.ReadFile(file); err != nil {
				return fmt.Errorf("reading what to compare with: %w", err)
			}
		}
		return engineMain(target, o.time, &sc, samples, profile)
	case "target":
		return targetMain()
	case "strain":
		return st.main(target, o.time)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if runtime.NumCPU() < 2 {
		return errors.New("two cores are needed: one for the generator, one for its target")
	}
	if o.calibrate {
		return calibrate(ctx, o.time)
	}
	if o.h2 {
		return compareH2(ctx, o)
	}
	return compare(ctx, o)
}

// cutURL splits a URL into base and path.
func cutURL(s string) (base, path string, err error) {
	u, err := url.Parse(s)
	if err != nil {
		return "", "", fmt.Errorf("reading the URL: %w", err)
	}
	return u.Scheme + "://" + u.Host, u.RequestURI(), nil
}
