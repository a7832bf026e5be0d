package observe

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// A server that runs on after kill -9 of iikanji would log every statement from
// then on, with all of their literals, until its disk is full. So the settings
// before are in a file beside the log before the first one is changed: RestoreLogs
// puts them back.

// settingsSuffix ends the name of that file; the name of the log is ahead of it.
const settingsSuffix = ".iikanji-settings"

// savedSettings is the content of that file.
type savedSettings struct {
	Server   string         `json:"server"` // socket and port: the folder may hold logs of several
	Settings []savedSetting `json:"settings"`
}

type savedSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// restorable are the variables that are put back. The file is in a folder of the
// server's account, so its names are not trusted.
var restorable = []string{"log_output", "long_query_time", "min_examined_row_limit", "log_slow_rate_limit", "log_slow_verbosity", "log_slow_extra",
	"slow_query_log_file", "slow_query_log", "general_log", "general_log_file"}

// serverOf identifies a server among those of a host.
func serverOf(ctx context.Context, conn *sql.Conn) (server string, err error) {
	if err := conn.QueryRowContext(ctx, "SELECT CONCAT(@@GLOBAL.socket, ' ', @@GLOBAL.port)").Scan(&server); err != nil {
		return "", fmt.Errorf("reading where the database listens: %w", err)
	}
	return server, nil
}

// saveSettings notes how a log is to be put back, in the order of the settings.
func saveSettings(ctx context.Context, conn *sql.Conn, h host.Host, log string, was []setting) error {
	server, err := serverOf(ctx, conn)
	if err != nil {
		return err
	}
	saved := savedSettings{Server: server}
	for _, s := range was {
		saved.Settings = append(saved.Settings, savedSetting{s.name, s.value})
	}
	b, err := json.Marshal(saved)
	if err == nil {
		err = h.Write(log+settingsSuffix, b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("noting the settings of the log: %w", err)
	}
	return nil
}

// forgetSettings removes the note once everything is put back.
func forgetSettings(h host.Host, log string) error { return h.Remove(log + settingsSuffix) }

// LogsLeft lists the logs beside a server's own log that a killed observation has
// left turned on.
func LogsLeft(h host.Host, beside string) (logs []string, err error) {
	if beside == "" {
		return nil, nil
	}
	entries, err := h.ReadDir(filepath.Dir(beside))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("looking for logs of a killed observation: %w", err)
	}
	for _, e := range entries {
		if log, ok := strings.CutSuffix(e.Name(), settingsSuffix); ok && log != "" && e.Type().IsRegular() {
			logs = append(logs, filepath.Join(filepath.Dir(beside), log))
		}
	}
	return logs, nil
}

// RestoreLogs puts the log settings of a server back that a killed observation has
// changed, and removes its logs. beside is the server's own slow log. It returns
// the logs that were turned off.
func RestoreLogs(ctx context.Context, h host.Host, db *sql.DB, beside string) (restored []string, err error) {
	logs, err := LogsLeft(h, beside)
	if err != nil || len(logs) == 0 {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	defer conn.Close()
	server, err := serverOf(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, log := range logs {
		b, err := h.Read(log + settingsSuffix)
		if err != nil {
			return restored, fmt.Errorf("reading the settings of the log before: %w", err)
		}
		var saved savedSettings
		if err := json.Unmarshal(b, &saved); err != nil {
			return restored, fmt.Errorf("reading %s%s: it is damaged; put the settings of the log back by hand and remove it", log, settingsSuffix)
		}
		if saved.Server != server {
			continue
		}
		for _, s := range saved.Settings {
			if !slices.Contains(restorable, s.Name) {
				return restored, fmt.Errorf("reading %s%s: %q is not a setting of a log", log, settingsSuffix, s.Name)
			}
			if err := writeSetting(ctx, conn, setting{name: s.Name, value: s.Value}); err != nil {
				return restored, err
			}
		}
		if err := errors.Join(h.Remove(log), forgetSettings(h, log)); err != nil {
			return restored, err
		}
		restored = append(restored, log)
	}
	return restored, nil
}
