package main

import (
	"context"
	"os"
	"path/filepath"
	"syscall"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/lead"
)

// lastBackup is a file of the portal's folder whose time is that of its last backup.
const lastBackup = "last-backup"

// Gauges that are of the portal's folder.
const (
	diskFree  = "iikanji_portal_disk_free_bytes"
	backupAge = "iikanji_portal_backup_age_seconds"
)

// A folderMonitor adds what the portal's folder tells.
type folderMonitor struct {
	*lead.Core
	dir string
}

// Gauges implements api.Monitor.
func (m folderMonitor) Gauges(ctx context.Context) ([]api.Gauge, error) {
	all, err := m.Core.Gauges(ctx)
	if err != nil {
		return nil, err
	}
	var st syscall.Statfs_t
	if syscall.Statfs(m.dir, &st) == nil { // else the number is missing, which a monitor sees
		all = append(all, api.Gauge{Name: diskFree, Help: "Free bytes of the disk of the portal's folder.", Value: float64(st.Bavail) * float64(st.Bsize)})
	}
	if info, err := os.Stat(filepath.Join(m.dir, lastBackup)); err == nil {
		all = append(all, api.Gauge{Name: backupAge, Help: "Age of the last backup.", Value: m.Now().Sub(info.ModTime()).Seconds()})
	}
	return all, nil
}
