package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/shard"
	"github.com/iikanji/iikanji/internal/show/progress"
	"github.com/iikanji/iikanji/internal/site/arenasite"
)

type loadCmd struct {
	Target string `arg:"" help:"Arena whose benchmarker sends the load, such as isuxi."`

	URL     string        `help:"Address of the site." required:"" placeholder:"URL"`
	Shards  int           `help:"How many generators (default: one more than machines of --on, at least 2)." placeholder:"N"`
	On      []string      `help:"Command that starts iikanji on another machine, as in 'ssh gen2 iikanji'; generators go to these machines in turn." placeholder:"COMMAND" sep:"none"`
	Load    time.Duration `help:"Length of the load phase (default: that of the contest)."`
	Seed    uint64        `help:"Seed of the offered work." default:"1"`
	Clock   float64       `help:"Speed of virtual time (default: that of the target)." placeholder:"X"`
	Set     []string      `help:"Setting of the arena." placeholder:"NAME=VALUE" sep:"none"`
	Address []string      `help:"Additional address that the target may give as its own." placeholder:"HOST:PORT"`
	TLSAny  bool          `name:"insecure" help:"Accept any certificate of an https target."`
	Dir     string        `help:"Work folder (default: below the user's state folder)." type:"path" placeholder:"FOLDER"`
	History string        `help:"Folder for runs (default: history in the work folder)." type:"path" placeholder:"FOLDER"`
	JSON    bool          `help:"Print the run as one JSON document."`
}

// Help returns the long help of the command.
func (loadCmd) Help() string {
	return `Loads a site by several generators at once, where one machine is not enough: processes
of this machine, or of others that a command such as ssh reaches, with the same version
of iikanji. The first one initializes the site and checks it; then all begin at the same
time. Users are divided among them; points, counts and latencies add up exactly, and the
score is computed once. If a generator is lost, late or the limit, the run is void. No
command may ask for a password: 'ssh -o BatchMode=yes gen2 iikanji' fails at once instead.

Arenas whose load can be divided: isuxi.

Examples:
  iikanji load isuxi --url http://127.0.0.1:8080 --shards 2
  iikanji load isuxi --url http://10.20.0.3 --on 'ssh gen2 iikanji' --on 'ssh gen3 iikanji'

Exit status: 0 passed, 1 failed to run (also: void, interrupted), 2 usage,
3 checks failed.`
}

// mostGenerators is how many generators a run has at most: the arenas have few actors.
const mostGenerators = 64

// Run runs the command.
func (c *loadCmd) Run(ctx context.Context, e *env) (err error) {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	if a.arena == nil {
		return usageError("%s is no arena: its benchmarker is a program of its own", c.Target)
	}
	if c.Shards == 0 {
		c.Shards = max(2, 1+len(c.On))
	}
	if c.Shards < 1+len(c.On) || c.Shards < 2 || c.Shards > mostGenerators {
		return usageError("--shards %d: want 2 to %d, and more than machines of --on", c.Shards, mostGenerators)
	}
	for _, line := range c.On {
		if len(strings.Fields(line)) == 0 {
			return usageError("--on: want a command, as in 'ssh gen2 iikanji'")
		}
	}
	if c.Dir == "" { // not that of the arena's servers, which takes no other files
		if c.Dir, err = stack.DefaultDir("load-" + a.Name); err != nil {
			return err
		}
	}
	b := &benchCmd{Target: c.Target, URL: c.URL, Load: c.Load, Seed: c.Seed, Clock: c.Clock, Pin: "auto", Dir: c.Dir, History: c.History, Set: c.Set, Address: c.Address, TLSAny: c.TLSAny, JSON: c.JSON}
	r, err := b.prepare(e, a)
	if err != nil {
		return err
	}
	defer r.progress.Done()
	h, err := r.openHistory(ctx, acting{what: "load"})
	if err != nil {
		return err
	}
	defer h.Close()
	defer tidy(e, h)
	r.file = progress.NewWriter(r.history, "load", a.Name, e.Now)
	defer func() { endProgress(e, r.file, err) }()
	data, err := r.ownData(ctx)
	if err != nil {
		return err
	}
	one := r.placed(arenasite.ScenarioOf(r.arena, r.URL, arena.Options{Data: data, Set: r.settings, Clock: r.Clock, Addresses: r.Address}))
	f := r.field(h, nil, &shardedLoader{c: c, e: e, one: one})
	f.Unseen = onThisMachine(r.URL)
	err = r.benchAll(ctx, f)
	if errors.Is(err, bench.ErrNotShardable) {
		return hinted(fmt.Errorf("%s: %w", c.Target, err), "iikanji bench loads it by one generator")
	}
	return err
}

// A shardedLoader makes runs with several generators.
type shardedLoader struct {
	c   *loadCmd
	e   *env
	one *field.Scenario // of this process
}

// Load implements field.Loader.
func (s *shardedLoader) Load(ctx context.Context, l field.Load) (*iikanji.Run, error) {
	sc, err := s.one.New(false)
	if err != nil {
		return nil, fmt.Errorf("making the benchmarker: %w", err)
	}
	run, err := shard.Run(ctx, sc, shard.Options{Generators: s.c.Shards, Start: s.start,
		Job:   shard.Job{Version: versionText(), Target: s.c.Target, URL: s.one.URL, Seed: s.one.Seed, Load: l.Time, Clock: s.c.Clock, Set: s.c.Set, Addresses: s.c.Address, Insecure: s.c.TLSAny},
		First: bench.Options{URL: s.one.URL, Seed: s.one.Seed, Load: l.Time, CPUs: s.one.CPUs, InsecureTLS: s.c.TLSAny, SamplesDir: l.Samples, Progress: l.Progress, OnPhase: l.OnPhase}})
	if err != nil {
		return nil, err
	}
	run.Place = s.one.Place
	return run, nil
}

// start starts generator n, from 1.
func (s *shardedLoader) start(_ context.Context, n int) (shard.Conn, error) {
	var args []string
	if on := s.c.On; len(on) > 0 {
		args = strings.Fields(on[(n-1)%len(on)])
	} else {
		program, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding this program: %w", err)
		}
		args = []string{program}
	}
	return startGenerator(append(args, generatorCommand), s.e)
}

// A generatorProcess is a generator that was started by a command.
type generatorProcess struct {
	io.Reader // its output
	in        io.WriteCloser
	cmd       *exec.Cmd
	once      sync.Once
}

// startGenerator starts a generator. It has a process group of its own: the Ctrl-C of a terminal is
// for the first one, which ends the others.
func startGenerator(args []string, e *env) (*generatorProcess, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = e.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	return &generatorProcess{Reader: out, in: in, cmd: cmd}, nil
}

func (g *generatorProcess) Write(p []byte) (int, error) { return g.in.Write(p) }

// Close ends the generator: it ends with its input, or is killed soon after.
func (g *generatorProcess) Close() error {
	g.once.Do(func() {
		_ = g.in.Close()
		kill := time.AfterFunc(5*time.Second, func() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) })
		defer kill.Stop()
		_ = g.cmd.Wait() // its status says nothing that its messages do not
	})
	return nil
}
