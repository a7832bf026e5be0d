package facts

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// redisKept are the settings that a Redis gets on its command line when it is started
// again: what decides where it listens, what it keeps and for how long. The list is in
// the order of the command line.
var redisKept = []string{"port", "bind", "protected-mode", "unixsocket", "unixsocketperm", "tcp-backlog", "timeout", "tcp-keepalive", "databases", "dir", "dbfilename",
	"save", "appendonly", "appendfilename", "maxmemory", "maxmemory-policy", "maxclients", "notify-keyspace-events", "loglevel", "logfile", "pidfile"}

// A SecretSettingError is a setting that must not be on a command line.
type SecretSettingError struct{ Name string }

func (e *SecretSettingError) Error() string {
	return fmt.Sprintf("the setting %s is not in a configuration file, and a command line would show it", e.Name)
}

// RedisStart asks a running Redis how to start it again: its program and its arguments,
// with the program's name first. Redis writes a title over its command line. It is started
// with its configuration file, if it has one, and with its present settings. It stays in
// the foreground, so that its supervisor sees its end.
func RedisStart(ctx context.Context, h host.Host, network, address string) (program string, args []string, err error) {
	conn, err := h.Dial(ctx, network, address)
	if err != nil {
		return "", nil, fmt.Errorf("connecting to the cache: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(5 * time.Second)
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return "", nil, fmt.Errorf("connecting to the cache: %w", err)
	}
	a := redisAsker(conn)
	info, err := a.ask("INFO", "server")
	if err != nil {
		return "", nil, err
	}
	server := infoLines(strings.Join(info, "\n"))
	if program = server["executable"]; !filepath.IsAbs(program) {
		return "", nil, fmt.Errorf("the cache names no program: %q", program)
	}
	args, err = a.arguments(program, server["config_file"])
	return program, args, err
}

// infoLines are the lines "name:value" of INFO.
func infoLines(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out[name] = value
		}
	}
	return out
}

// An asker sends commands to one Redis.
type asker struct {
	conn net.Conn
	r    *bufio.Reader
}

func redisAsker(conn net.Conn) asker {
	return asker{conn, bufio.NewReader(io.LimitReader(conn, maxCacheReply))}
}

func (a asker) ask(words ...string) ([]string, error) {
	if _, err := io.WriteString(a.conn, respCommand(words)); err != nil {
		return nil, fmt.Errorf("asking the cache: %w", err)
	}
	out, err := readRESP(a.r, 0)
	if err != nil {
		return nil, fmt.Errorf("reading the cache's answer to %s: %w", words[0], err)
	}
	return out, nil
}

// setting is the present value of a setting; ok is false if this version has none.
func (a asker) setting(name string) (value string, ok bool, err error) {
	pair, err := a.ask("CONFIG", "GET", name)
	if err != nil || len(pair) != 2 {
		return "", false, err
	}
	return pair[1], true, nil
}

// arguments are the arguments that start a Redis with its present settings.
func (a asker) arguments(program, file string) ([]string, error) {
	args := []string{filepath.Base(program)}
	if file != "" {
		args = append(args, file)
	}
	for _, name := range redisKept {
		value, ok, err := a.setting(name)
		switch {
		case err != nil:
			return nil, err
		case !ok || value == "" && name != "save":
			continue
		case name == "unixsocketperm" && value == "0":
			continue // as the umask has it
		}
		args = append(args, "--"+name)
		if words := strings.Fields(value); name == "save" || name == "bind" {
			if len(words) == 0 {
				words = []string{""} // no snapshots
			}
			args = append(args, words...)
			continue
		}
		args = append(args, value)
	}
	for _, name := range []string{"requirepass", "masterauth"} {
		value, _, err := a.setting(name)
		if err != nil {
			return nil, err
		}
		if value != "" && file == "" {
			return nil, &SecretSettingError{name}
		}
	}
	return append(args, "--daemonize", "no"), nil
}
