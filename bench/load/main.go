// Command load compares what a request costs the load generator: our engine
// against wrk, hey, vegeta, isucandar's agent and k6, each on one core, against
// one nginx on another. It is run by `make bench` and is no test: it prints a
// table, with the ratios that we promise, and leaves the judging to the reader.
//
//  1. nginx is started in a folder of its own, one worker, one file of 1 KiB.
//  2. The peers are built at exact versions into .cache/peers; one that cannot
//     be had is left out, with a line.
//  3. Rounds: each tool runs once per round, in turn, so that what else the
//     machine does meets all alike; ratios are taken within a round.
//  4. The table: CPU time per request of the whole process, medians.
//
// With -calibrate it measures instead when the generator is the limit, for the
// thresholds in internal/bench/limit.go.
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
}

func main() {
	runtime.LockOSThread() // children are killed when the thread that made them ends
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/load:", err)
		os.Exit(1)
	}
}

func run() error {
	var o options
	var role, target, samples, profile string
	var browser bool
	var st strain
	flag.IntVar(&o.rounds, "rounds", 5, "how often each tool runs")
	flag.DurationVar(&o.time, "time", 4*time.Second, "how long it runs each time")
	flag.StringVar(&o.only, "only", "", "run the tools whose names contain this, besides iikanji and wrk")
	flag.BoolVar(&o.calibrate, "calibrate", false, "measure when the generator is the limit")
	flag.StringVar(&role, "role", "", "for children: engine, target, strain")
	flag.StringVar(&target, "url", "", "for children: what to load")
	flag.BoolVar(&browser, "browser", false, "for the engine: cookies, gzip and cache")
	flag.StringVar(&samples, "samples", "", "for the engine: keep raw samples in this folder")
	flag.StringVar(&profile, "cpuprofile", "", "for the engine: write a CPU profile")
	flag.IntVar(&st.serve, "serve", 0, "for strain: µs that the target works")
	flag.IntVar(&st.work, "work", 0, "for strain: µs that the generator works")
	flag.IntVar(&st.actors, "actors", 0, "for strain: actors")
	flag.Parse()
	switch role {
	case "engine":
		return engineMain(target, o.time, browser, samples, profile)
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
	return compare(ctx, o)
}

// cutURL parts a URL in base and path.
func cutURL(s string) (base, path string, err error) {
	u, err := url.Parse(s)
	if err != nil {
		return "", "", fmt.Errorf("reading the URL: %w", err)
	}
	return u.Scheme + "://" + u.Host, u.RequestURI(), nil
}
