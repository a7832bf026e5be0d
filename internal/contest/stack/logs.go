package stack

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/show/plain"
)

// Logs of the stack itself, in log/. The services' logs are the arena's.
const (
	buildLog      = "build.log"
	initLog       = "init.log"
	loadLog       = "load.log"
	supervisorLog = "supervisor.log"
	// Logs of checks: a service's source, a database config.
	checkBuildLog    = "check-build.log"
	checkDatabaseLog = "check-database.log"
)

// turnLogs keeps one older copy of each log and creates new ones, owned by the
// services. In a log that grew over weeks, new lines would be hard to find.
func (f folder) turnLogs(services []arena.Service) error {
	names := []string{supervisorLog}
	for _, svc := range services {
		if svc.IsProcess() {
			names = append(names, svc.Output)
		}
		for _, l := range svc.Logs {
			names = append(names, l.File)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		path := f.path(logDir, name)
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			if err := os.Rename(path, path+".1"); err != nil {
				return err
			}
		}
		if err := f.emptyLog(name); err != nil {
			return err
		}
	}
	return nil
}

// emptyLog creates a log, or truncates it.
func (f folder) emptyLog(name string) error {
	file, err := os.OpenFile(f.path(logDir, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	if f.as.drop {
		err = file.Chown(f.as.uid, f.as.gid)
	}
	return errors.Join(err, file.Chmod(0o644), file.Close())
}

// size returns where a log ends now; later only the lines after it are quoted.
func (f folder) size(log string) int64 {
	info, err := os.Stat(f.path(logDir, log))
	if err != nil {
		return 0
	}
	return info.Size()
}

const (
	tailBytes = 64 << 10
	tailLines = 10
	lineBytes = 240
)

// tail quotes a log from an offset on. It returns the last lines, or the lines
// with the cause if the last ones are only the rest of a panic's goroutines or
// messages of a server's shutdown.
func (f folder) tail(log string, from int64) []string {
	file, err := os.OpenFile(f.path(logDir, log), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil {
		from = max(from, info.Size()-tailBytes)
	}
	b, _ := io.ReadAll(io.NewSectionReader(file, from, tailBytes)) // after an error the part that was read is still useful
	return failureLines(b)
}

// printable makes a line safe for a terminal. A program may log what an attacker
// sent to it.
func printable(line []byte) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return '·'
		}
		return r
	}, strings.TrimRight(strings.ToValidUTF8(string(line), "?"), " \r\n"))
	return plain.CutBytes(text, lineBytes)
}

// failureLines picks at most tailLines lines that show why a program ended.
func failureLines(b []byte) []string {
	var lines, errs []string
	for l := range bytes.Lines(b) {
		line := printable(l)
		if line == "" {
			continue
		}
		lines = append(lines, line)
		if strings.Contains(line, "[ERROR]") || strings.Contains(line, "[emerg]") {
			errs = append(errs, line)
		}
	}
	start := func(l string) bool { return strings.HasPrefix(l, "panic:") || strings.HasPrefix(l, "fatal error:") }
	if i := slices.IndexFunc(lines, start); i >= 0 {
		return lines[i:min(i+tailLines, len(lines))]
	}
	if len(errs) > 0 {
		lines = errs
	}
	return lines[max(0, len(lines)-tailLines):]
}
