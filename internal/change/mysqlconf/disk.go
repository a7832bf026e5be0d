package mysqlconf

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// logShare is the maximum share of the free disk for the redo log: the trial
// server creates one while the real server still has its old one.
const logShare = 0.5

// redoLog returns the disk space of a server's redo log, which is allocated
// whole at the start.
func redoLog(vars map[string]string) iikanji.Bytes {
	one, _ := bytesOf(vars["innodb_log_file_size"])
	files, err := strconv.ParseInt(vars["innodb_log_files_in_group"], 10, 64)
	if err != nil || files < 1 {
		files = 1
	}
	all, _ := bytesOf(vars["innodb_redo_log_capacity"]) // MySQL from 8.0.30 on
	return iikanji.Bytes(max(one*min(files, 100), all))
}

// disk refuses a larger redo log that does not fit on the disk.
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
