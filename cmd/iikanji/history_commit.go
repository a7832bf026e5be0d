package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
)

type historyCommitCmd struct {
	Target string `arg:"" help:"Target whose history to commit, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`

	Message  string `short:"m" help:"Message of the commit (default: what the history has)." placeholder:"TEXT"`
	Literals bool   `help:"Commit literals of statements, and what may be a secret; by default they are redacted."`
	placeFlags
}

// Help returns the long help of the command.
func (historyCommitCmd) Help() string {
	return `Commits the history folder, and nothing else, to the git repository that it is
in. Files that hold values of requests and statements, or facts of configurations,
stay out: they may hold secrets. A file .gitignore in the folder lists them; edit
it to commit more. Of all other files, passwords, tokens, addresses of e-mail and
the literals of statements are left out of what is committed; the files in the
folder keep them, so git shows these files as modified. The report as Markdown is
written beside, as report.md.

Examples:
  iikanji history commit isucondition --history ./history
  iikanji history commit isucondition -m "day 2"

Exit status: 0 committed, or nothing to commit; 1 failed to run (also: the
folder is in no repository), 2 usage.`
}

// gitignore lists the files that hold values of users' data.
const gitignore = `# Written by iikanji history commit; edit it as you like.
# Values of requests and statements, lines of logs and whole configurations may
# hold secrets. Raw files are large.
.*.tmp
# Paths of this machine.
roots.json
samples.bin*
seconds.tsv*
slow*.log.*
slow*.json*
access*.json
errors.json
facts.json
progress.json*
`

// reportName is the report that is committed with the history.
const reportName = "report.md"

// Run runs the command.
func (c *historyCommitCmd) Run(ctx context.Context, e *env) error {
	h, err := c.openToWrite(ctx, e, c.Target) // no run may be half written in a commit
	if err != nil {
		return err
	}
	defer h.Close()
	dir := h.Dir()
	if _, err := git(ctx, dir, "rev-parse", "--show-toplevel"); err != nil {
		return hinted(err, "choose a history in a repository with --history, or make one with git init")
	}
	s, err := summary.Load(h, c.Target)
	if err != nil {
		return err
	}
	if err := c.prepare(s, dir); err != nil {
		return err
	}
	if err := h.NameChanges(); err != nil {
		return err
	}
	repo, err := openRepository(ctx, h)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(repo.index))
	redacted, err := repo.stage(ctx, c.Literals)
	if err != nil {
		return err
	}
	staged, err := repo.git(ctx, nil, "diff", "--cached", "--name-only", "--", ".")
	if err != nil {
		return err
	}
	if staged == "" {
		_, err := fmt.Fprintln(e.Stdout, "nothing to commit")
		return err
	}
	id, err := repo.commit(ctx, c.message(s))
	if err != nil {
		return err
	}
	text := fmt.Sprintf("committed %s as %s", report.Number(strings.Count(staged, "\n")+1, "file"), id)
	if redacted > 0 {
		text += fmt.Sprintf(", %d of them without what may be a secret (--literals commits it)", redacted)
	}
	_, err = fmt.Fprintln(e.Stdout, text)
	return err
}

// prepare writes the report, and a .gitignore if the folder has none.
func (c *historyCommitCmd) prepare(s *summary.Summary, dir string) error {
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Stat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := writeWhole(ignore, func(w io.Writer) error { _, err := io.WriteString(w, gitignore); return err }); err != nil {
			return err
		}
	}
	if !c.Literals {
		redact.Document(s)
	}
	return writeWhole(filepath.Join(dir, reportName), func(w io.Writer) error { return document.Markdown(w, s) })
}

// message describes what the history has, unless the user gave a message.
func (c *historyCommitCmd) message(s *summary.Summary) string {
	if c.Message != "" {
		return c.Message
	}
	text := fmt.Sprintf("iikanji %s: %s, %s", s.Target, report.Number(len(s.Runs), "run"), report.Number(len(s.Changes), "change"))
	if s.Headline != nil {
		text += fmt.Sprintf(", %.1f × the untouched score", s.Headline.Ratio.Mid)
	}
	return text
}
