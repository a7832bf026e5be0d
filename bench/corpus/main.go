// Command corpus runs the code levers over the source of applications that nobody here
// wrote, and prints what came of each place: found, with a fix, built, vetted, alike in the
// app's own tests, covered by the query cache, and why not, the most frequent reason first.
// `make corpus CORPUS=FILE` runs it; what it prints is Markdown, as docs/corpus.md has it.
// The user chooses the applications. The repository keeps neither them nor their list.
//
// A line of the file has a name and the address of a git repository, and may have the
// folder of the Go module in it:
//
//	blog https://git.example/someone/blog
//	shop https://git.example/someone/shop server
//
// A name alone is a folder of the cache that is there already; with a folder, - stands for
// the address. The modules that an application needs are fetched by the go command.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

// options are what the command was asked for.
type options struct {
	list, cache, program, only string
	reasons                    int
	test                       bool
}

func main() {
	var o options
	flag.StringVar(&o.list, "list", "", "file with the names and addresses of the applications")
	flag.StringVar(&o.cache, "cache", ".cache/corpus", "folder of the fetched applications")
	flag.StringVar(&o.program, "program", "bin/iikanji", "the iikanji to run")
	flag.StringVar(&o.only, "only", "", "codes, separated by commas; without any, all")
	flag.IntVar(&o.reasons, "reasons", 25, "number of reasons that are printed")
	flag.BoolVar(&o.test, "test", false, "run the apps' own tests around the fixes, before and after")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if o.list == "" {
		fmt.Fprintln(os.Stderr, "corpus: needs -list FILE, whose lines are NAME GIT-ADDRESS [FOLDER]")
		os.Exit(2)
	}
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	apps, err := readList(o.list)
	if err != nil {
		return err
	}
	o.program, err = filepath.Abs(o.program)
	if err != nil {
		return err
	}
	sum := newSummary()
	for _, a := range apps {
		r, err := a.measure(ctx, o)
		if err != nil {
			sum.missing = append(sum.missing, fmt.Sprintf("%s: %v", a.name, err))
			continue
		}
		sum.add(a.name, r)
		fmt.Fprintf(os.Stderr, "%s: %d places in %.1f s (%.1f s of CPU)\n", a.name, len(r.hits), r.wall.Seconds(), r.cpu.Seconds())
	}
	sum.print(os.Stdout, o.reasons)
	if len(sum.apps) == 0 {
		return errors.New("no application could be read; without a network, fetch them into the cache beforehand and give their names alone")
	}
	if len(sum.wrong) > 0 {
		return fmt.Errorf("%d fixes do not build, vet or pass the tests that passed before", len(sum.wrong))
	}
	return nil
}

// An app is one line of the list.
type app struct{ name, address, folder string }

func readList(file string) (apps []app, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		words = append(words, "", "")
		apps = append(apps, app{words[0], strings.TrimPrefix(words[1], "-"), words[2]})
	}
	if len(apps) == 0 {
		return nil, fmt.Errorf("%s names no application", file)
	}
	return apps, nil
}

// measure fetches an application and judges its places.
func (a app) measure(ctx context.Context, o options) (*result, error) {
	dir, err := a.fetch(ctx, o.cache)
	if err != nil {
		return nil, err
	}
	prepare(ctx, dir)
	r, err := judge(ctx, o.program, dir, o.only)
	if err == nil && o.test {
		err = r.testFixes(ctx)
	}
	return r, err
}

// fetch returns the folder of the module, and fetches the repository unless it is there.
func (a app) fetch(ctx context.Context, cache string) (string, error) {
	dir := filepath.Join(cache, filepath.FromSlash(a.name))
	if _, err := os.Stat(dir); err != nil {
		if a.address == "" {
			return "", fmt.Errorf("%s is not there, and no address is given", dir)
		}
		cmd := exec.CommandContext(ctx, "git", "clone", "--quiet", "--depth", "1", "--", a.address, dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("fetching %s: %w: %s", a.address, err, strings.TrimSpace(string(out)))
		}
	}
	dir, err := filepath.Abs(filepath.Join(dir, filepath.FromSlash(a.folder)))
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "go.mod"))
	}
	return dir, err
}

// prepare fetches the modules of an application and compiles them, so that what lint takes is
// measured and not what the compiler takes. What fails is named by lint.
func prepare(ctx context.Context, dir string) {
	if _, err := os.Stat(filepath.Join(dir, "vendor")); err != nil {
		_, _ = goCommand(ctx, dir, []string{"mod", "download"})
	}
	_, _ = goCommand(ctx, dir, []string{"list", "-e", "-deps", "-export", "-f", `{{""}}`, "./..."})
}

// goCommand runs the go command in a folder, and returns what it printed.
func goCommand(ctx context.Context, dir string, args []string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}
