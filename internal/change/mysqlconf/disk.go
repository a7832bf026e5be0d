package mysqlconf

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/host"
)

// logShare is how much of the free disk the redo log may take: the server that
// tries a plan makes one, and the real one has its old one still.
const logShare = 0.5

// redoLog is the disk space that a server's redo log takes whole, from its
// start on.
func redoLog(vars map[string]string) iikanji.Bytes {
	one, _ := bytesOf(vars["innodb_log_file_size"])
	files, err := strconv.ParseInt(vars["innodb_log_files_in_group"], 10, 64)
	if err != nil || files < 1 {
		files = 1
	}
	all, _ := bytesOf(vars["innodb_redo_log_capacity"]) // MySQL 8.0.30 and later
	return iikanji.Bytes(max(one*min(files, 100), all))
}

// disk refuses a larger redo log that the disk has no place for.
func disk(h host.Host, now, then map[string]string) error {
	need := redoLog(then)
	if need <= redoLog(now) {
		return nil
	}
	dir := now["innodb_log_group_home_dir"]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(now["datadir"], dir)
	}
	space, err := h.FreeSpace(dir)
	if err != nil {
		return fmt.Errorf("reading the free space for the redo log: %w", err)
	}
	free := float64(space)
	if float64(need) > logShare*free {
		return fmt.Errorf("the redo log would take %s of disk; it may have %.0f %% of the %s that are free in %s", need, 100*logShare, iikanji.Bytes(free), dir)
	}
	return nil
}
