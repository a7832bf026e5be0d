package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/iikanji/iikanji"
)

// A tool is one generator in the comparison.
type tool struct {
	name   string
	checks bool // compares the body
	// build returns the command's path and builds the command if necessary.
	build func() (string, error)
	args  func(j *job) []string
	// count reads the number of answered requests from the output.
	count func(j *job, out []byte) (int64, error)
	// goal is the largest allowed ratio of iikanji's CPU per request to this
	// tool's; 0 for none.
	goal float64

	bin  string
	runs []measured
}

// A job is one run of a tool.
type job struct {
	url, want, dir string
	time           time.Duration
}

func (j *job) seconds() string { return strconv.Itoa(int(j.time.Seconds())) + "s" }

// write puts a script for a tool into the job's folder.
func (j *job) write(name, text string) string {
	path := filepath.Join(j.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		panic("BUG: the job's folder cannot be written: " + err.Error())
	}
	return path
}

func self() (string, error) { return os.Executable() }

func installed(name string) func() (string, error) {
	return func() (string, error) { return exec.LookPath(name) }
}

func pattern(expr string) func(*job, []byte) (int64, error) {
	re := regexp.MustCompile(expr)
	return func(_ *job, out []byte) (int64, error) {
		m := re.FindSubmatch(out)
		if m == nil {
			return 0, fmt.Errorf("no %q in its output: %.200q", expr, out)
		}
		return strconv.ParseInt(string(m[1]), 10, 64)
	}
}

func ours(name string, flags ...string) *tool {
	return &tool{name: name, checks: true, build: self,
		args: func(j *job) []string {
			args := []string{"-role", "engine", "-url", j.url, "-time", j.time.String()}
			for _, f := range flags {
				if f == "-samples" {
					f = "-samples=" + j.dir
				}
				args = append(args, f)
			}
			return args
		},
		count: func(_ *job, out []byte) (int64, error) {
			var run iikanji.Run
			if err := json.Unmarshal(out, &run); err != nil {
				return 0, err
			}
			if run.Points[0].Count == 0 {
				return 0, errors.New("nothing was counted")
			}
			return run.Load.Requests, nil
		}}
}

const luaCompare = `local f = io.open(%q); local want = f:read("*a"); f:close()
function response(status, headers, body) if body ~= want then os.exit(1) end end
`

const k6Script = `import http from "k6/http";
import { check } from "k6";
const want = open(%q);
export const options = { vus: %d, duration: %q, thresholds: {} };
export default function () {
  const r = http.get(%q);
  %s
}
export function handleSummary(d) { return { stdout: "requests " + d.metrics.http_reqs.values.count + "\n" }; }
`

func k6(name, body string, checks bool) *tool {
	return &tool{name: name, checks: checks, build: module("k6", "go.k6.io/k6", "v1.8.1", "go.k6.io/k6", ""),
		args: func(j *job) []string {
			text := fmt.Sprintf(k6Script, j.want, conns, j.seconds(), j.url, body)
			return []string{"run", "--quiet", "--no-usage-report", j.write("k6.js", text)}
		},
		count: pattern(`requests (\d+)`)}
}

// tools returns all generators, iikanji and wrk first.
func tools() []*tool {
	wrkArgs := func(j *job) []string {
		return []string{"-t1", "-c" + strconv.Itoa(conns), "-d" + j.seconds(), j.url}
	}
	withGoal := func(t *tool, goal float64) *tool { t.goal = goal; return t }
	return []*tool{
		ours("iikanji"),
		{name: "wrk", build: installed("wrk"), goal: 1.25, args: wrkArgs, count: pattern(`(\d+) requests in`)},
		ours("iikanji, samples kept", "-samples"),
		ours("iikanji, cookie, gzip, 304", "-browser"),
		{name: "wrk, Lua compare", checks: true, build: installed("wrk"), count: pattern(`(\d+) requests in`),
			args: func(j *job) []string {
				return append([]string{"-s", j.write("compare.lua", fmt.Sprintf(luaCompare, j.want))}, wrkArgs(j)...)
			}},
		{name: "ab -k", build: installed("ab"), count: pattern(`Complete requests:\s+(\d+)`),
			args: func(j *job) []string {
				return []string{"-k", "-q", "-c", strconv.Itoa(conns), "-t", strconv.Itoa(int(j.time.Seconds())), "-n", "100000000", j.url}
			}},
		{name: "oha", build: installed("oha"), count: pattern(`\[200\] (\d+) responses`),
			args: func(j *job) []string {
				return []string{"--no-tui", "-c", strconv.Itoa(conns), "-z", j.seconds(), j.url}
			}},
		{name: "hey", build: module("hey", "github.com/rakyll/hey", "v0.1.5", "github.com/rakyll/hey", ""),
			count: pattern(`\[200\]\s+(\d+) responses`),
			args: func(j *job) []string {
				return []string{"-c", strconv.Itoa(conns), "-z", j.seconds(), j.url}
			}},
		{name: "vegeta", goal: 0.45, count: countVegeta,
			build: module("vegeta", "github.com/tsenart/vegeta/v12", "v12.13.0", "github.com/tsenart/vegeta/v12", ""),
			args: func(j *job) []string {
				return []string{"attack", "-rate=0", "-workers=" + strconv.Itoa(conns), "-max-workers=" + strconv.Itoa(conns),
					"-duration=" + j.seconds(), "-targets=" + j.write("targets", "GET "+j.url+"\n"), "-output=" + vegetaResults(j)}
			}},
		withGoal(isucandar(), 0.45),
		k6("k6", "", false),
		withGoal(k6("k6, check", `check(r, { body: (r) => r.status === 200 && r.body === want });`, true), 0.25),
	}
}

func vegetaResults(j *job) string { return filepath.Join(j.dir, "vegeta.bin") }

func countVegeta(j *job, _ []byte) (int64, error) {
	bin, err := module("vegeta", "github.com/tsenart/vegeta/v12", "v12.13.0", "github.com/tsenart/vegeta/v12", "")()
	if err != nil {
		return 0, err
	}
	out, err := exec.Command(bin, "report", "-type=json", vegetaResults(j)).Output()
	if err != nil {
		return 0, fmt.Errorf("reading vegeta's results: %w", err)
	}
	return pattern(`"200":(\d+)`)(j, out)
}
