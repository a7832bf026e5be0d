package sqlcache

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

var only = flag.String("mutants", "", "the part of the names of the mutants to run; empty: all")

// A mutant is a copy of this package with one rule broken.
type mutant struct {
	name  string
	edits [][3]string // file, old text, new text
	mysql bool        // of a rule that a file of SQLite does not need
}

func readMutants(t *testing.T) []mutant {
	b, err := os.ReadFile("testdata/mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []mutant
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "name "); ok {
			all = append(all, mutant{name: name})
		} else if line == "mysql only" {
			all[len(all)-1].mysql = true
		} else if file, old, ok := strings.Cut(line, " - "); ok && !strings.HasPrefix(line, "#") && strings.HasSuffix(file, ".go") {
			m := &all[len(all)-1]
			m.edits = append(m.edits, [3]string{file, old})
		} else if file, text, ok := strings.Cut(line, " + "); ok && strings.HasSuffix(file, ".go") {
			m := &all[len(all)-1]
			m.edits[len(m.edits)-1][2] = text
		}
	}
	return all
}

// sources are the files of the package, and the plan of the model as a file
// that is not a test.
func sources(t *testing.T) map[string]string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") && f != "modelplan_test.go" || f == "embed.go" {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.Replace(f, "_test.go", ".go", 1)] = strings.NewReplacer("func modelPlan()", "func ModelPlan()", "func modelPlanSQLite()", "func ModelPlanSQLite()").Replace(string(b))
	}
	return out
}

// TestMutants builds every mutant into one program, which runs the model on
// each. The model must find a violation in every one, and none in the package
// as it is.
func TestMutants(t *testing.T) {
	tier.Slow(t)
	mutants := readMutants(t)
	if len(mutants) < 15 {
		t.Fatalf("%d mutants", len(mutants))
	}
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !strings.Contains(m.name, *only) })
	program := buildMutants(t, append([]mutant{{name: "as it is"}}, mutants...))
	freshDatabase(t, "mutants")
	runMutants(t, program, mutants, server.Socket)
	// The list of the program begins with the package as it is.
	args, files := []string{filepath.Join(t.TempDir(), "mutants.db"), "as it is"}, slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool { return m.mysql })
	for i, m := range mutants {
		if m.mysql {
			args = append(args, fmt.Sprint(i+1))
		}
	}
	runMutants(t, program, files, args...)
}

// runMutants runs the program on a server's socket, or on a file of SQLite without the
// mutants at the places that follow.
func runMutants(t *testing.T, program string, mutants []mutant, args ...string) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var found []string
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	if found[0] != "" {
		t.Errorf("the package as it is: %s", found[0])
	}
	for i, m := range mutants {
		if found[i+1] == "" {
			t.Errorf("the model found nothing wrong with: %s", m.name)
		}
		t.Logf("%s: %s", m.name, found[i+1])
	}
}

// buildMutants writes the copies into an overlay, so that they are packages of
// this module without being in its folder.
func buildMutants(t *testing.T, mutants []mutant) string {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	add := func(path, text string) {
		file := filepath.Join(scratch, fmt.Sprintf("%d.go", len(overlay.Replace)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(here, "mutants", path)] = file
	}
	var imports, list bytes.Buffer
	for i, m := range mutants {
		for name, text := range mutated(t, m) {
			add(fmt.Sprintf("m%d/%s", i, name), text)
		}
		fmt.Fprintf(&imports, "\tm%d \"github.com/iikanji/iikanji/internal/rewrite/sqlcache/mutants/m%d\"\n", i, i)
		fmt.Fprintf(&list, "\tfunc(file bool) (cache, error) {\n\t\tp := m%d.ModelPlan()\n\t\tif file {\n\t\t\tp = m%d.ModelPlanSQLite()\n\t\t}\n\t\treturn m%d.New(p, m%d.Options{Bytes: 1 << 20, Eager: true})\n\t},\n", i, i, i, i)
	}
	b, err := os.ReadFile("testdata/mutantsmain.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	add("run/main.go", strings.NewReplacer("\t// IMPORTS\n", imports.String(), "\t// MUTANTS\n", list.String()).Replace(string(b)))
	j, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(scratch, "overlay.json"), j, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(scratch, "mutants")
	// The copies are compiled without optimisations: they run for less than a second each.
	// The flags of the other packages are those of make check, whose build cache has them.
	cmd := exec.CommandContext(t.Context(), "go", "build", "-gcflags=all=-dwarf=false", "-gcflags=./mutants/m...=-dwarf=false -N -l", "-ldflags=-s -w", "-overlay", filepath.Join(scratch, "overlay.json"), "-o", program, "./mutants/run")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the mutants: %v\n%s", err, out)
	}
	return program
}

// mutated gives the files of a mutant.
func mutated(t *testing.T, m mutant) map[string]string {
	files := sources(t)
	for _, e := range m.edits {
		if n := strings.Count(files[e[0]], e[1]); n != 1 {
			t.Fatalf("mutant %q: %q occurs %d times in %s", m.name, e[1], n, e[0])
		}
		files[e[0]] = strings.Replace(files[e[0]], e[1], e[2], 1)
	}
	return files
}
