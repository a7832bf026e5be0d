package discover

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/target"
)

func TestLengthFlagIn(t *testing.T) {
	for _, c := range []struct{ name, help, want string }{
		{"Go's flag package", "Usage of bench:\n  -duration duration\n    \tlength of the load (default 1m0s)\n  -target string\n    \taddress (default \"http://127.0.0.1\")\n", "-duration s 1m0s"},
		{"Go, a number", "Usage of ./bench:\n  -seconds int\n    \tlength of the load (default 60)\n", "-seconds  60"},
		{"cobra", "Flags:\n  -h, --help                help for bench\n      --load-duration duration   how long (default 60s)\n", "--load-duration s 60s"},
		{"clap", "Options:\n  -t, --time <SECONDS>   length of the run [default: 60]\n  -h, --help  Print help\n", "--time  60"},
		{"argparse", "options:\n  -h, --help            show this help message and exit\n  --duration DURATION   seconds of load (default: 30)\n", "--duration  30"},
		{"a timeout is no length", "  --timeout duration\n    \trequest timeout (default 1s)\n  --initialize-timeout duration\n", ""},
		{"a time of day", "  --time string   when to begin, as in 12:00\n", ""},
		{"no option", "usage: bench URL\n", ""},
	} {
		got := ""
		if f, ok := lengthFlagIn(c.help); ok {
			got = f.name + " " + f.unit + " " + f.had
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWithLength(t *testing.T) {
	for _, c := range []struct {
		flag          lengthFlag
		command, want string
	}{
		{lengthFlag{name: "-duration", unit: "s"}, "./bench -target x", "./bench -duration ${IIKANJI_SECONDS}s -target x"},
		{lengthFlag{name: "--time"}, "./bench --time=60 x", "./bench --time=${IIKANJI_SECONDS} x"},
		{lengthOptions["wrk"], "wrk -t 2 -d 60s http://127.0.0.1/", "wrk -t 2 -d ${IIKANJI_SECONDS}s http://127.0.0.1/"},
		{lengthOptions["k6"], "k6 run script.js", "k6 run --duration=${IIKANJI_SECONDS}s script.js"},
	} {
		if got := c.flag.with(c.command); got != c.want {
			t.Errorf("%s: %s, want %s", c.command, got, c.want)
		}
	}
}

// TestBenchLength asks a real program for its options; one that does not end is ended.
func TestBenchLength(t *testing.T) {
	dir := t.TempDir()
	program := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return "./" + name
	}
	ask := func(command string) string {
		s := &search{Options: Options{Bench: command, Dir: dir}, host: host.Local{}, out: &Found{File: &target.File{}, Notes: map[string]string{}}}
		s.benchLength(context.Background())
		return s.out.Notes["bench.command"]
	}
	usage := program("usage", "echo '  -duration duration' >&2\nexit 2\n")
	if note := ask(usage + " -target x"); !strings.Contains(note, `command = "./usage -duration ${IIKANJI_SECONDS}s -target x"`) {
		t.Errorf("the note is %q", note)
	}
	for _, command := range []string{program("deaf", "sleep 60\n"), usage + " | tail -1", usage + " -duration $IIKANJI_SECONDS", "./missing"} {
		if note := ask(command); note != "" {
			t.Errorf("%s: %q", command, note)
		}
	}
}

func TestLengthOfCommand(t *testing.T) {
	flag := lengthFlag{name: "-duration", unit: "s", had: "20s"}
	for command, want := range map[string]time.Duration{"./bench": 20 * time.Second, "./bench -duration 45s x": 45 * time.Second, "./bench -duration=1m30s": 90 * time.Second,
		"./bench -duration 30": 30 * time.Second, "./bench -duration soon": 0} {
		if got, ok := flag.length(command); ok && got != want || ok == (want == 0) {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
}
