package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/load/shard"
	"github.com/iikanji/iikanji/internal/show/report"
)

// generatorCommand is the argument with which `iikanji load` starts this program as a further
// generator. Standard input and output are the stream to the first generator. The command is
// internal: no help text lists it.
const generatorCommand = "generator"

// maybeGenerator is a generator, and does not return, if the arguments ask for it.
func maybeGenerator(args []string) {
	if len(args) != 2 || args[1] != generatorCommand {
		return
	}
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT) // it ends with its input
	out := os.Stdout
	os.Stdout = os.Stderr // no line of ours may get between the messages
	err := shard.Generate(context.Background(), os.Stdin, out, versionText(), generatorOf)
	if stopped := (*shard.StoppedError)(nil); err != nil && !errors.As(err, &stopped) {
		fmt.Fprintf(os.Stderr, "iikanji generator: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// generatorOf makes the benchmarker of a job.
func generatorOf(ctx context.Context, j *shard.Job) (scenario.Scenario, bench.Options, error) {
	o := bench.Options{URL: j.URL, Seed: j.Seed, Load: j.Load, InsecureTLS: j.Insecure}
	a, ok := arena.Find(j.Target)
	if !ok {
		return nil, o, fmt.Errorf("there is no arena %q here", j.Target)
	}
	dir, err := stack.DefaultDir("generator-" + a.Name)
	if err != nil {
		return nil, o, err
	}
	e := systemEnv()
	c := &benchCmd{Target: j.Target, URL: j.URL, Load: j.Load, Seed: j.Seed, Clock: j.Clock, Pin: "off", Dir: dir, Set: j.Set, Address: j.Addresses, TLSAny: j.Insecure}
	r, err := c.prepare(e, &namedTarget{Name: a.Name, arena: a})
	if err != nil {
		return nil, o, err
	}
	r.progress = report.NewProgress(e.Stderr, false, e.width, e.Now)
	defer r.progress.Done()
	data, err := r.ownData(ctx)
	if err != nil {
		return nil, o, err
	}
	sc, err := a.Scenario(arena.Options{Data: data, Set: r.settings, Clock: r.Clock, Addresses: r.Address})
	return sc, o, err
}
