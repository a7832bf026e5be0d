package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A strain is one situation: a single-threaded target with some CPU time per
// request, and a generator with some CPU time per answer.
type strain struct {
	serve, work, actors int  // µs, µs, number
	contended           bool // another busy process runs on the generator's core
}

// strains range from "the target is the limit" to "the generator is the limit",
// with and without another busy process on the generator's core.
func strains() []strain {
	var all []strain
	for _, serve := range []int{20, 100, 500, 2000} {
		for _, work := range []int{0, 10, 50, 100, 400} {
			all = append(all, strain{serve: serve, work: work, actors: conns})
		}
	}
	for _, serve := range []int{20, 100, 500, 2000} {
		all = append(all, strain{serve: serve, actors: conns, contended: true}, strain{serve: serve, actors: 1}, strain{serve: serve, actors: 1, contended: true})
	}
	return all
}

// calibrate prints, for each strain, the generator's throughput and the engine's
// verdict.
func calibrate(ctx context.Context, load time.Duration) error {
	exe, err := self()
	if err != nil {
		return err
	}
	target := pinned(ctx, targetCore, exe, "-role", "target")
	out, err := target.StdoutPipe()
	if err != nil {
		return err
	}
	if err := target.Start(); err != nil {
		return fmt.Errorf("starting the target: %w", err)
	}
	defer func() { _ = target.Process.Kill(); _ = target.Wait() }()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("starting the target: %w", err)
	}
	fmt.Printf("%5s %5s %6s %8s %9s %6s %9s %9s %6s %s\n", "serve", "work", "actors", "contended", "req/s", "share", "late", "latency", "ratio", "verdict")
	for _, s := range strains() {
		if err := s.print(ctx, exe, strings.TrimSpace(url), load); err != nil {
			return err
		}
	}
	return nil
}

func pinned(ctx context.Context, core int, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", fmt.Sprint(core)}, args...)...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (s strain) print(ctx context.Context, exe, url string, load time.Duration) error {
	if s.contended {
		busy := pinned(ctx, genCore, "sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			return fmt.Errorf("starting the busy process: %w", err)
		}
		defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }()
	}
	out, err := pinned(ctx, genCore, exe, "-role", "strain", "-url", url, "-time", load.String(), "-serve", strconv.Itoa(s.serve),
		"-work", strconv.Itoa(s.work), "-actors", strconv.Itoa(s.actors)).Output()
	if err != nil {
		return fmt.Errorf("running the generator: %w", err)
	}
	var run iikanji.Run
	if err := json.Unmarshal(out, &run); err != nil {
		return fmt.Errorf("reading the generator's run: %w", err)
	}
	g, step := run.Load, run.Steps[0]
	verdict := run.Outcome.String()
	if len(run.Warnings) > 0 {
		verdict += ", warned"
	}
	µs := func(d time.Duration) string { return d.Round(time.Microsecond).String() }
	fmt.Printf("%5d %5d %6d %8v %9.0f %6.2f %9s %9s %6.2f %s\n", s.serve, s.work, s.actors, s.contended, float64(step.Count)/run.Took.Seconds(),
		g.CPUShare, µs(g.LagMean), µs(step.Mean), float64(g.LagMean)/float64(step.Mean), verdict)
	return nil
}

func burn(us int) {
	for end := time.Now().Add(time.Duration(us) * time.Microsecond); time.Now().Before(end); {
	}
}

// main is the generator of a strain, a child process.
func (s *strain) main(url string, load time.Duration) error {
	run, err := bench.Run(context.Background(), s, bench.Options{URL: url, Load: load})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(run)
}

func (s *strain) Info() scenario.Info {
	return scenario.Info{Name: "strain", Steps: []string{"get"}, Timeout: 10 * time.Second}
}

func (s *strain) Load(ctx context.Context, se scenario.Session) error {
	for range s.actors {
		se.Go("actor", func(ctx context.Context) {
			c := se.NewClient(scenario.ClientOptions{})
			req := scenario.Request{Path: "/" + strconv.Itoa(s.serve)}
			for ctx.Err() == nil {
				res, err := c.Do(ctx, &req)
				se.Report(err)
				burn(s.work)
				res.Release()
			}
		})
	}
	return nil
}

// targetMain runs the target: it uses the CPU for the µs that the path names, one
// request after the other, and answers.
func targetMain() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go serve(c)
	}
}

func serve(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 4096)
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1024\r\n\r\n" + strings.Repeat("x", 1024))
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		path, _, _ := strings.Cut(strings.TrimPrefix(string(buf[:n]), "GET /"), " ")
		us, err := strconv.Atoi(path)
		if err != nil {
			return
		}
		burn(us)
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}
