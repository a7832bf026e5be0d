package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Where an app runs by its own tests, they say whether its answers are alike: those of the
// packages of the fixes, and of the packages that import these.

// testFixes runs the tests around all fixes that build, before and after.
func (r *result) testFixes(ctx context.Context) error {
	var chosen []int
	for i := range r.hits {
		if !r.vetted[i] {
			continue
		}
		if _, err := r.apply(append(slices.Clone(chosen), i)); err == nil { // others overlap
			chosen = append(chosen, i)
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	after, err := r.apply(chosen)
	if err != nil {
		return err
	}
	around, err := r.around(ctx, after)
	if err != nil {
		return err
	}
	before, err := r.passed(ctx, around, nil)
	if err != nil || len(before) == 0 {
		return err
	}
	now, err := r.passed(ctx, around, after)
	if err != nil {
		return err
	}
	if lost := without(before, now); len(lost) > 0 {
		// A test that fails by chance is asked once more, without the fixes and with them.
		again, err := r.passed(ctx, around, nil)
		if err != nil {
			return err
		}
		second, err := r.passed(ctx, around, after)
		if err != nil {
			return err
		}
		maps.Copy(now, second)
		for _, test := range without(before, now) {
			if again[test] {
				r.broken = append(r.broken, fmt.Sprintf("the test %s passes without the fixes, and not with them", test))
			}
		}
	}
	r.tests = len(before) - len(without(before, now))
	for _, i := range chosen {
		r.alike[i] = r.tests > 0
	}
	return nil
}

// without are the tests of one set that another one lacks, in order.
func without(a, b map[string]bool) (out []string) {
	for _, test := range slices.Sorted(maps.Keys(a)) {
		if !b[test] {
			out = append(out, test)
		}
	}
	return out
}

// around are the packages of some files with those that import them.
func (r *result) around(ctx context.Context, files map[string][]byte) ([]string, error) {
	folders, err := r.foldersOf(files)
	if err != nil {
		return nil, err
	}
	of, err := goCommand(ctx, r.dir, append([]string{"list", "-f", "{{.ImportPath}}", "--"}, folders...))
	if err != nil {
		return nil, fmt.Errorf("go list: %s", lastLine(of))
	}
	changed := strings.Fields(of)
	all, _ := goCommand(ctx, r.dir, []string{"list", "-e", "-f", `{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "./..."})
	out := slices.Clone(changed)
	for line := range strings.Lines(all) {
		words := strings.Fields(line)
		if len(words) > 1 && !slices.Contains(out, words[0]) && slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(changed, w) }) {
			out = append(out, words[0])
		}
	}
	return out, nil
}

// passed are the tests that pass, as "package name", with some files replaced.
func (r *result) passed(ctx context.Context, packages []string, after map[string][]byte) (map[string]bool, error) {
	args := []string{"test", "-json", "-count=1", "-timeout=5m", "-vet=off"}
	if after != nil {
		overlay, done, err := writeOverlay(after)
		if err != nil {
			return nil, err
		}
		defer done()
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(append(args, "--"), packages...)...)
	cmd.Dir, cmd.Env = r.dir, append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	passed := map[string]bool{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct{ Action, Package, Test string }
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Action == "pass" && e.Test != "" {
			passed[e.Package+" "+e.Test] = true
		}
	}
	_ = cmd.Wait() // tests that fail are not among those that passed
	return passed, ctx.Err()
}
