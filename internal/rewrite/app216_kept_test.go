package rewrite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// keptProgram runs readers and writers against a value that stands for a table. A
// reader must never get an older value than the one that was written before it asked.
const keptProgram = `package main

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

func main() {
	var table, written, sent, asked atomic.Int64
	get := func(dest any, query string, args ...any) error {
		sent.Add(1)
		now := table.Load()
		for range 20 {
			runtime.Gosched() // the answer is on its way
		}
		*dest.(*int64) = now
		return nil
	}
	list := func(dest any, query string, args ...any) error {
		*dest.(*[]int64) = append(*dest.(*[]int64), 1, 2, 3)
		return nil
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3000 {
				least := written.Load()
				var n int64
				if err := keptShop.ask(get, &n, "SELECT n FROM shop WHERE a = ?", int64(1)); err != nil || n < least {
					fmt.Println("stale", n, least, err)
					os.Exit(3)
				}
				asked.Add(1)
				for range 60 {
					runtime.Gosched()
				}
			}
		})
	}
	all.Go(func() {
		for i := range 300 {
			func() {
				defer keptShop.write()()
				table.Add(1)
			}()
			written.Store(table.Load())
			for range 8 + 400*(i%2) { // a second write follows while readers are asking
				runtime.Gosched()
			}
		}
	})
	all.Wait()
	if sent.Load() > asked.Load()*9/10 {
		fmt.Println("nothing is kept:", sent.Load(), asked.Load())
		os.Exit(4)
	}
	first, second := []int64{}, []int64(nil)
	keptShop.ask(list, &first, "SELECT n FROM shop WHERE b > ?", 1)
	first[0] = 9
	keptShop.ask(list, &second, "SELECT n FROM shop WHERE b > ?", 1)
	if len(second) != 3 || second[0] != 1 {
		fmt.Println("a kept list is shared:", second)
		os.Exit(5)
	}
}
`

// TestKeptAnswers runs the code that a fix adds. Each mutant lacks one of its rules
// and must be found out.
func TestKeptAnswers(t *testing.T) {
	tier.Slow(t)
	kept := fmt.Sprintf(keptSource, "keptShop", "shopAnswers", "shop", mostKept)
	dir := t.TempDir()
	run := func(name, source string) (string, error) {
		folder := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"main.go": keptProgram + source, "go.mod": "module kept\n\ngo 1.25\n"} {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "go", "run", ".")
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("as it is", kept); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, change := range map[string][2]string{
		"kept over a write":  {"a.ended == ended", "a.ended >= ended"},
		"shared between two": {"answer.Set(reflect.AppendSlice(answer, into))", "answer.Set(into)"},
		"nothing is emptied": {"	clear(a.kept)\n	return func", "	return func"},
	} {
		mutant := strings.Replace(kept, change[0], change[1], 1)
		if mutant == kept {
			t.Fatalf("%s: %q is not in the source", name, change[0])
		}
		if out, err := run(name, mutant); err == nil || !strings.HasPrefix(out, "stale") && !strings.HasPrefix(out, "a kept list") {
			t.Errorf("%s: not found out: %v\n%s", name, err, out)
		}
	}
}
