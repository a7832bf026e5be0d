package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// slpVersion is the compared version of slp.
const slpVersion = "v0.2.1"

// A peer is another program that reads slow logs.
type peer struct {
	name  string
	path  string
	args  []string
	count func(ctx context.Context, path, log string) (counts, error)
}

// counts holds a program's counts: all events, and the events of each digest,
// largest first.
type counts struct {
	total int64
	each  []int64
}

func countsOf(each []int64) counts {
	c := counts{each: each}
	slices.SortFunc(c.each, func(a, b int64) int { return int(b - a) })
	for _, n := range each {
		c.total += n
	}
	return c
}

// ptName is the program of Debian's package percona-toolkit; it is searched in PATH.
const ptName = "pt-query-digest"

func peers(slp string) []peer {
	pt, _ := exec.LookPath(ptName)
	return []peer{
		{ptName, pt, nil, countPT},
		{"slp", slp, []string{"my", "--file"}, countSLP},
	}
}

// buildSLP builds slp from its exact version in a scratch module.
func buildSLP(ctx context.Context, dir string) (path, why string) {
	mod := filepath.Join(dir, "slp")
	if err := os.MkdirAll(mod, 0o755); err != nil {
		return "", err.Error()
	}
	path = filepath.Join(mod, "slp")
	for _, args := range [][]string{{"mod", "init", "x"}, {"mod", "edit", "-require", "github.com/tkuchiki/slp@" + slpVersion}, {"build", "-mod=mod", "-o", path, "github.com/tkuchiki/slp/cmd/slp"}} {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = mod
		cmd.Env = append(os.Environ(), "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Sprintf("go %s: %v: %.300s", strings.Join(args, " "), err, out)
		}
	}
	return path, ""
}

func maxRSS(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss
	}
	return 0
}

func countIikanji(ctx context.Context, binary, log string) (counts, error) {
	out, err := exec.CommandContext(ctx, binary, "slow", "--json", "--limit", "0", log).Output()
	if err != nil {
		return counts{}, fmt.Errorf("running iikanji: %w", err)
	}
	var p struct {
		Rows []struct {
			Count int64 `json:"count"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(out, &p); err != nil {
		return counts{}, fmt.Errorf("reading iikanji's JSON: %w", err)
	}
	var each []int64
	for _, r := range p.Rows {
		each = append(each, r.Count)
	}
	return countsOf(each), nil
}

func countPT(ctx context.Context, path, log string) (counts, error) {
	out, err := exec.CommandContext(ctx, path, "--output", "json", "--limit", "100%:1000", log).Output()
	if err != nil {
		return counts{}, err
	}
	var p struct {
		Classes []struct {
			Count int64 `json:"query_count"`
		} `json:"classes"`
	}
	if err := json.Unmarshal(out, &p); err != nil {
		return counts{}, err
	}
	var each []int64
	for _, c := range p.Classes {
		each = append(each, c.Count)
	}
	return countsOf(each), nil
}

func countSLP(ctx context.Context, path, log string) (counts, error) {
	out, err := exec.CommandContext(ctx, path, "my", "--format", "csv", "--output", "count", "--file", log).Output()
	if err != nil {
		return counts{}, err
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil {
		return counts{}, err
	}
	var each []int64
	for _, r := range rows {
		if n, err := strconv.ParseInt(r[0], 10, 64); err == nil {
			each = append(each, n)
		}
	}
	return countsOf(each), nil
}

// compare prints whether a peer's counts equal iikanji's.
func compare(ctx context.Context, p peer, log string, want counts) {
	got, err := p.count(ctx, p.path, log)
	switch {
	case err != nil:
		fmt.Printf("    counts: reading those of %s: %v\n", p.name, err)
	case slices.Equal(got.each, want.each):
		fmt.Printf("    counts: the same, %d events in %d digests\n", got.total, len(got.each))
	default:
		fmt.Printf("    counts: %d events in %d digests, iikanji %d in %d\n", got.total, len(got.each), want.total, len(want.each))
		fmt.Printf("    by digest: %v\n       iikanji: %v\n", got.each, want.each)
	}
}
