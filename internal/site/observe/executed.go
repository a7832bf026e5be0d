package observe

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// executedLog is the file of the general log, in the folder of the server's own
// slow log.
const executedLog = "executed-general.log"

// maxExecuted bounds how many bytes of it are read: initialize may load much
// data, but the statements that make the tables usually come first.
const maxExecuted = 64 << 20

// Executed returns the statements that a database executes while do runs: every
// statement of every client, in the order of the general log, which is on for
// that time only. beside is a log of the server on its host, in whose folder it may
// write.
func Executed(ctx context.Context, h host.Host, db *sql.DB, beside string, do func() error) (statements []string, err error) {
	path := filepath.Join(filepath.Dir(beside), executedLog)
	if _, err := RestoreLogs(ctx, h, db, beside); err != nil {
		return nil, err
	}
	if err := emptyLike(h, path, beside); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Remove(path)) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	defer conn.Close()
	var file, output string
	var on bool
	if err := conn.QueryRowContext(ctx, "SELECT @@GLOBAL.general_log_file, @@GLOBAL.log_output, @@GLOBAL.general_log").Scan(&file, &output, &on); err != nil {
		return nil, fmt.Errorf("reading how the general log is written: %w", err)
	}
	set := func(ctx context.Context, file, output string, on bool) error {
		for _, s := range []struct {
			text  string
			value any
		}{{"SET GLOBAL general_log = (? = 1)", 0}, {"SET GLOBAL general_log_file = ?", file}, {"SET GLOBAL log_output = ?", output}, {"SET GLOBAL general_log = (? = 1)", on}} {
			if _, err := conn.ExecContext(ctx, s.text, s.value); err != nil {
				return fmt.Errorf("setting the general log: %w", err)
			}
		}
		return nil
	}
	if err := saveSettings(ctx, conn, h, path, []setting{{name: "general_log", value: "0"}, {name: "general_log_file", value: file}, {name: "log_output", value: output},
		{name: "general_log", value: map[bool]string{true: "1", false: "0"}[on]}}); err != nil {
		return nil, err
	}
	defer func() {
		back := set(context.WithoutCancel(ctx), file, output, on)
		if back == nil {
			back = forgetSettings(h, path)
		}
		err = errors.Join(err, back)
	}()
	if err := set(ctx, path, "FILE", true); err != nil {
		return nil, err
	}
	if err := do(); err != nil {
		return nil, err
	}
	if err := set(ctx, file, output, on); err != nil { // this closes the log, which is complete then
		return nil, err
	}
	return readExecuted(h, path)
}

var (
	// generalEntry is the start of an entry: a time, if it differs from the one
	// before, the connection's number and the command.
	generalEntry = regexp.MustCompile(`^(?:[0-9]{6} [ 0-9:]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[^ \t]+)?\t* *[0-9]+ ([A-Z][a-z]+(?: [A-Za-z]+)?)\t(.*)$`)
	isStatement  = map[string]bool{"Query": true, "Execute": true}
)

// readExecuted reads the statements of a general log of MariaDB or MySQL.
func readExecuted(h host.Host, path string) ([]string, error) {
	f, err := h.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the general log: %w", err)
	}
	defer f.Close()
	return parseExecuted(bufio.NewScanner(f))
}

func parseExecuted(lines *bufio.Scanner) ([]string, error) {
	lines.Buffer(make([]byte, 64<<10), maxExecuted)
	var out []string
	within, read := false, 0
	for lines.Scan() && read < maxExecuted {
		line := lines.Text()
		read += len(line)
		if m := generalEntry.FindStringSubmatch(line); m != nil {
			if within = isStatement[m[1]]; within {
				out = append(out, strings.TrimSpace(m[2]))
			}
		} else if within { // a statement of several lines
			out[len(out)-1] += "\n" + line
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the general log: %w", err)
	}
	return out, nil
}
