// Command corpus runs the code levers over the source of applications that nobody here
// wrote, and prints what came of each place: found, with a fix, built, vetted, and why
// not, the most frequent reason first. `make corpus CORPUS=FILE` runs it. Nothing of the
// applications is kept in the repository, and neither is the list: it is whoever runs it
// who chooses them.
//
// A line of the file has a name and the address of a git repository, and may have the
// folder of the Go module in it:
//
//	blog https://git.example/someone/blog
//	shop https://git.example/someone/shop server
//
// A name alone is a folder of the cache that is there already. The modules that an
// application needs have to be there, or are fetched by the go command.
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

func main() {
	list := flag.String("list", "", "file with the names and addresses of the applications")
	cache := flag.String("cache", ".cache/corpus", "folder of the fetched applications")
	program := flag.String("program", "bin/iikanji", "the iikanji to run")
	only := flag.String("only", "", "codes, separated by commas; without any, all")
	reasons := flag.Int("reasons", 25, "number of reasons that are printed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *list == "" {
		fmt.Fprintln(os.Stderr, "corpus: needs -list FILE, whose lines are NAME GIT-ADDRESS [FOLDER]")
		os.Exit(2)
	}
	if err := run(ctx, *list, *cache, *program, *only, *reasons); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, list, cache, program, only string, reasons int) error {
	apps, err := readList(list)
	if err != nil {
		return err
	}
	program, err = filepath.Abs(program)
	if err != nil {
		return err
	}
	sum := newSummary()
	for _, a := range apps {
		dir, err := a.fetch(ctx, cache)
		if err != nil {
			sum.missing = append(sum.missing, fmt.Sprintf("%s: %v", a.name, err))
			continue
		}
		r, err := judge(ctx, program, dir, only)
		if err != nil {
			sum.missing = append(sum.missing, fmt.Sprintf("%s: %v", a.name, err))
			continue
		}
		sum.add(a.name, r)
		fmt.Fprintf(os.Stderr, "%s: %d places\n", a.name, len(r.hits))
	}
	sum.print(os.Stdout, reasons)
	if len(sum.apps) == 0 {
		return errors.New("no application could be read; without a network, fetch them into the cache beforehand and give their names alone")
	}
	if sum.broken > 0 {
		return fmt.Errorf("%d fixes do not build or vet", sum.broken)
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
		apps = append(apps, app{words[0], words[1], words[2]})
	}
	if len(apps) == 0 {
		return nil, fmt.Errorf("%s names no application", file)
	}
	return apps, nil
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
