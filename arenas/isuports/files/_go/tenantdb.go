package main

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/jmoiron/sqlx"
)

// sqliteDriver is the name under which modernc.org/sqlite registers itself.
const sqliteDriver = "sqlite"

func tenantFile(id int64, end string) string {
	return filepath.Join(env("ISUCON_TENANT_DB_DIR", "../tenant_db"), fmt.Sprintf("%d.%s", id, end))
}

// connectTenant opens the database of a tenant. The caller closes it.
func (a *app) connectTenant(id int64) (*sqlx.DB, error) {
	path := tenantFile(id, "db")
	db, err := sqlx.Open(a.tenantDriver, "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=rw&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return db, nil
}

// createTenantFile makes the database of a new tenant.
func createTenantFile(ctx context.Context, id int64) error {
	path := tenantFile(id, "db")
	out, err := exec.CommandContext(ctx, "sh", "-c", `sqlite3 "$1" <"$2"`, "sh", path, tenantSchema).CombinedOutput()
	if err != nil {
		return fmt.Errorf("creating %s: %w: %s", path, err, out)
	}
	return nil
}

// lockTenant locks the database of a tenant for this request. Readers and writers
// take the same lock.
func lockTenant(id int64) (*flock.Flock, error) {
	lock := flock.New(tenantFile(id, "lock"))
	if err := lock.Lock(); err != nil {
		return nil, fmt.Errorf("locking tenant %d: %w", id, err)
	}
	return lock, nil
}
