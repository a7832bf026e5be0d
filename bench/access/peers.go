package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/bench/access/gen"
)

// A peer is another reader of access logs.
type peer struct {
	name, path string
	// args are its arguments for a log; nil if it does not read the format.
	args func(f gen.Format, log string) (args []string, stdin bool)
	// counts reads the count of each route from its output; a peer without
	// routes counts all requests as "".
	counts func(out []byte) (map[string]int64, error)
}

// peersDir is the folder of the built peers.
const peersDir = ".cache/peers"

// peers returns the tools to compare with and builds them if needed.
func peers(ctx context.Context, scratch string) (all []*peer) {
	for _, p := range []*peer{kataribe(ctx, scratch), alp(ctx), goaccess(scratch)} {
		if p != nil {
			all = append(all, p)
		}
	}
	return all
}

// build builds a package of a module at an exact version, in a separate module,
// so that the product's go.mod does not list it.
func build(ctx context.Context, name, module, version, pkg string) (string, error) {
	dir, err := filepath.Abs(filepath.Join(peersDir, name+"-"+version))
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, name)
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	os.Remove(filepath.Join(dir, "go.mod"))
	for _, args := range [][]string{{"mod", "init", "peer"}, {"mod", "edit", "-require", module + "@" + version}, {"build", "-mod=mod", "-o", bin, pkg}} {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go %s: %w: %.300s", strings.Join(args, " "), err, out)
		}
	}
	return bin, nil
}

// kataribe gets the routes as bundles.
func kataribe(ctx context.Context, scratch string) *peer {
	bin, err := build(ctx, "kataribe", "github.com/matsuu/kataribe", "v0.4.1", "github.com/matsuu/kataribe")
	if err != nil {
		fmt.Println("kataribe is left out:", err)
		return nil
	}
	conf := filepath.Join(scratch, "kataribe.toml")
	text := `ranking_count = 1000
slow_count = 1
show_stddev = true
show_status_code = true
show_bytes = true
percentiles = [ 50.0, 90.0, 95.0, 99.0 ]
scale = 0
effective_digit = 3
log_format = '^([^ ]+) ([^ ]+) ([^ ]+) \[([^\]]+)\] "((?:\\"|[^"])*)" (\d+) (\d+|-) "((?:\\"|[^"])*)" "((?:\\"|[^"])*)" ([0-9.]+)$'
request_index = 5
status_index = 6
bytes_index = 7
duration_index = 10
`
	for _, p := range gen.Patterns() {
		text += fmt.Sprintf("[[bundle]]\nregexp = '^%s %s(\\?\\S*)? '\nname = \"%s %s\"\n", p.Method, strings.Trim(p.Regexp, "^$"), p.Method, p.Route)
	}
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		fmt.Println("kataribe is left out:", err)
		return nil
	}
	return &peer{name: "kataribe", path: bin, counts: kataribeCounts,
		args: func(f gen.Format, log string) ([]string, bool) {
			if f != gen.Combined {
				return nil, false
			}
			return []string{"-f", conf}, true
		}}
}

func kataribeCounts(out []byte) (map[string]int64, error) {
	counts := map[string]int64{}
	_, table, ok := strings.Cut(string(out), "Sort By Total\n")
	if !ok {
		return nil, fmt.Errorf("it printed no table")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for _, line := range strings.Split(table, "\n")[1:] {
		c := strings.Fields(line)
		if len(c) < 20 {
			return nil, fmt.Errorf("it printed %q", line)
		}
		n, err := strconv.ParseInt(c[0], 10, 64)
		if err != nil {
			return nil, err
		}
		counts[strings.Join(c[18:], " ")] += n
	}
	return counts, nil
}

// alp gets the routes as regular expressions.
func alp(ctx context.Context) *peer {
	bin, err := build(ctx, "alp", "github.com/tkuchiki/alp", "v1.0.21", "github.com/tkuchiki/alp/cmd/alp")
	if err != nil {
		fmt.Println("alp is left out:", err)
		return nil
	}
	var exprs []string
	routes := map[string]string{}
	for _, p := range gen.Patterns() {
		routes[p.Method+" "+p.Regexp] = p.Method + " " + p.Route
		exprs = append(exprs, p.Regexp)
	}
	return &peer{name: "alp", path: bin,
		args: func(f gen.Format, log string) ([]string, bool) {
			command := map[gen.Format]string{gen.Combined: "regexp", gen.LTSV: "ltsv", gen.JSON: "json"}[f]
			return []string{command, "--file", log, "-m", strings.Join(exprs, ","), "--format", "tsv", "--sort", "sum", "-r"}, false
		},
		counts: func(out []byte) (map[string]int64, error) {
			counts := map[string]int64{}
			for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n")[1:] {
				c := strings.Split(line, "\t")
				n, err := strconv.ParseInt(c[0], 10, 64)
				if err != nil || len(c) < 8 {
					return nil, fmt.Errorf("it printed %q", line)
				}
				counts[routes[c[6]+" "+c[7]]] += n
			}
			return counts, nil
		}}
}

// goaccess has no routes with ids: it counts every path separately, and only
// its total is compared.
func goaccess(scratch string) *peer {
	bin, err := exec.LookPath("goaccess")
	if err != nil {
		fmt.Println("GoAccess is left out: it is not installed")
		return nil
	}
	if text, err := exec.Command(bin, "--version").CombinedOutput(); err != nil {
		fmt.Printf("GoAccess is left out: %v: %.100s\n", err, text)
		return nil
	}
	out := filepath.Join(scratch, "goaccess.json")
	return &peer{name: "GoAccess", path: bin,
		args: func(f gen.Format, log string) ([]string, bool) {
			if f != gen.Combined {
				return nil, false
			}
			return []string{log, "--no-global-config", "--log-format=%h %^[%d:%t %^] \"%r\" %s %b \"%R\" \"%u\" %T",
				"--date-format=%d/%b/%Y", "--time-format=%T", "--no-progress", "-o", out}, false
		},
		counts: func([]byte) (map[string]int64, error) {
			b, err := os.ReadFile(out)
			if err != nil {
				return nil, err
			}
			var report struct {
				General struct {
					Valid int64 `json:"valid_requests"`
				} `json:"general"`
			}
			if err := json.Unmarshal(b, &report); err != nil {
				return nil, err
			}
			return map[string]int64{"": report.General.Valid}, nil
		}}
}

// agree compares the counts of all tools with those of iikanji, on the same part of
// the log.
func agree(ctx context.Context, s *settings, f gen.Format, cut string, tools []*peer) error {
	out, err := exec.CommandContext(ctx, s.binary, "access", "--format", "csv", "--columns", "count,route", cut).Output()
	if err != nil {
		return fmt.Errorf("running iikanji: %w", err)
	}
	r := csv.NewReader(strings.NewReader(string(out)))
	r.Comment, r.FieldsPerRecord = '#', 2
	rows, err := r.ReadAll()
	if err != nil {
		return fmt.Errorf("reading iikanji's table: %w", err)
	}
	ours := map[string]int64{}
	var total int64
	for _, row := range rows[1:] {
		n, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			return err
		}
		ours[row[1]] += n
		total += n
	}
	fmt.Printf("  counts: iikanji learned %d routes of %d, %d requests of %d lines\n", len(ours), len(gen.Patterns()), total, s.peerLines)
	for _, p := range tools {
		args, stdin := p.args(f, cut)
		if args == nil {
			continue
		}
		cmd := exec.CommandContext(ctx, p.path, args...)
		if stdin {
			log, err := os.Open(cut)
			if err != nil {
				return err
			}
			defer log.Close()
			cmd.Stdin = log
		}
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("running %s: %w", p.name, err)
		}
		theirs, err := p.counts(out)
		if err != nil {
			return fmt.Errorf("reading the output of %s: %w", p.name, err)
		}
		fmt.Printf("  counts: %s\n", verdict(p.name, ours, theirs, total))
	}
	return nil
}

// verdict describes where the counts of a peer differ.
func verdict(name string, ours, theirs map[string]int64, total int64) string {
	if n, ok := theirs[""]; ok && len(theirs) == 1 {
		if n == total {
			return fmt.Sprintf("%s has the same number of requests", name)
		}
		return fmt.Sprintf("%s has %d requests, iikanji %d", name, n, total)
	}
	var differ []string
	for key, n := range ours {
		if theirs[key] != n {
			differ = append(differ, fmt.Sprintf("%s: %d, iikanji %d", key, theirs[key], n))
		}
	}
	for key, n := range theirs {
		if _, ok := ours[key]; !ok {
			differ = append(differ, fmt.Sprintf("%s: %d, iikanji none", key, n))
		}
	}
	if len(differ) == 0 {
		return fmt.Sprintf("%s has the same count for each of %d routes", name, len(ours))
	}
	sort.Strings(differ)
	return fmt.Sprintf("%s differs in %d routes: %s", name, len(differ), strings.Join(differ[:min(len(differ), 5)], "; "))
}
