package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/docs"
	"github.com/iikanji/iikanji/internal/change"
)

type helpCmd struct {
	Topic []string `arg:"" optional:"" help:"A command, the code of a finding such as DB101, or a topic. Without it: the list of topics."`
	Man   bool     `help:"Print the manual page of all commands, for man."`
}

// Help returns the long help of the command.
func (helpCmd) Help() string {
	return `Prints the help of a command, the page of a finding, or the page of a topic. The
pages are in the program; no network is needed.

Examples:
  iikanji help
  iikanji help history diff
  iikanji help DB101
  iikanji help method
  iikanji help --man > iikanji.1

Exit status: 0 done, 1 failed to run, 2 usage (also: there is no such topic).`
}

// Run runs the command.
func (c *helpCmd) Run(ctx context.Context, e *env) error {
	if c.Man {
		_, err := io.WriteString(e.Stdout, manPage(ctx, e))
		return err
	}
	if len(c.Topic) == 0 {
		return listTopics(ctx, e)
	}
	name := strings.Join(c.Topic, " ")
	for _, x := range completionsOf(newParser(ctx, e).Model.Node) {
		if x.path == name {
			if status := run(ctx, e, append(slices.Clone(c.Topic), "--help")); status != exitDone {
				return &exitError{Status: status}
			}
			return nil
		}
	}
	for _, file := range []string{strings.ToLower(name) + ".md", "findings/" + strings.ToUpper(name) + ".md"} {
		if page, err := fs.ReadFile(docs.Pages, file); err == nil {
			_, err := e.Stdout.Write(page)
			return err
		}
	}
	hint := "iikanji help lists the topics"
	if near := change.Nearest(name, slices.Concat(topics("."), topics("findings"), commandNames(ctx, e))); near != "" {
		hint = "iikanji help " + near
	}
	return &exitError{Status: exitUsage, Err: fmt.Errorf("there is no topic %q", name), Hints: []string{hint}}
}

// topics lists the pages of a folder, without their ending.
func topics(dir string) (names []string) {
	entries, err := fs.ReadDir(docs.Pages, dir)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, e := range entries {
		if stem, ok := strings.CutSuffix(e.Name(), ".md"); ok && stem != "README" {
			names = append(names, stem)
		}
	}
	return names
}

func commandNames(ctx context.Context, e *env) (names []string) {
	for _, c := range completionsOf(newParser(ctx, e).Model.Node) {
		if c.path != "" {
			names = append(names, c.path)
		}
	}
	return names
}

// listTopics lists commands, topics and findings.
func listTopics(ctx context.Context, e *env) error {
	out := &output{w: e.Stdout}
	out.line("Commands")
	for _, w := range completionsOf(newParser(ctx, e).Model.Node)[0].words {
		out.line("  %-11s %s", w.text, w.help)
	}
	out.line("\nTopics")
	for _, name := range topics(".") {
		out.line("  %-11s %s", name, title(name+".md"))
	}
	out.line("\nFindings")
	for _, name := range topics("findings") {
		out.line("  %-11s %s", name, strings.TrimPrefix(title(path.Join("findings", name+".md")), name+" "))
	}
	return out.err
}

// title is the heading of a page.
func title(file string) string {
	f, err := docs.Pages.Open(file)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	defer f.Close()
	head := make([]byte, 500)
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 {
		return ""
	}
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	return strings.TrimSpace(strings.TrimLeft(line, "# "))
}
