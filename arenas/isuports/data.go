package isuports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

const (
	// dataVersion must change whenever the generator's output changes.
	dataVersion = "1"

	// initialTenants is the number of initial tenants. Their ids are 1 to 100 in
	// each size: the benchmarker chooses tenants by their ids.
	initialTenants = 100

	adminData   = "sql/admin/90_data.sql"
	pristineDir = "initial_data"

	// fileWriters is the number of SQLite files that are written at once. The first
	// tenant has two fifths of all rows, so more would wait for it.
	fileWriters = 2
)

// The initial data is of May 2022.
var (
	dataBegin = time.Date(2022, 5, 1, 0, 0, 0, 0, time.UTC).Unix()
	dataEnd   = time.Date(2022, 5, 31, 23, 59, 59, 0, time.UTC).Unix()
)

// A bounds is a closed range from which numbers are drawn.
type bounds struct{ least, most int }

// A dataSize is how much initial data there is.
type dataSize struct {
	Players      bounds // per tenant
	HugePlayers  int    // of tenant 1, the only huge one
	Competitions bounds // per tenant; tenant 1 has the most
	Visits       bounds // limits of the visits of a player in a competition
	Scores       bounds // limits of the scores of a player in a competition
}

// contestSize is the contest's.
var contestSize = dataSize{Players: bounds{20, 200}, HugePlayers: 5000, Competitions: bounds{2, 20},
	Visits: bounds{7, 75}, Scores: bounds{10, 100}}

// smallSize is that of tests: as many tenants as in the contest, each with few rows.
var smallSize = dataSize{Players: bounds{20, 40}, HugePlayers: 150, Competitions: bounds{2, 5}, Visits: bounds{2, 6}, Scores: bounds{2, 6}}

// generatedVersion returns the version of what Generate writes.
func generatedVersion() string { return contestSize.version() }

// version differs for data of other sizes or with another schema.
func (s dataSize) version() string {
	sum := sha256.Sum256(fmt.Appendf(webapp.MustRead(tenantSchema), "%s %v", dataVersion, s))
	return dataVersion + "-" + hex.EncodeToString(sum[:6])
}

// Generate writes the initial data of the contest: a dump for the admin database
// and the pristine SQLite files into webapp, and the benchmarker's copy into data.
// With an empty webapp it writes only the copy. The output is the same every time.
// Each file is complete or absent, and the version is written last.
func Generate(ctx context.Context, webapp, data string) error {
	return contestSize.generate(ctx, webapp, data)
}

// generate writes data of a size. The tenants are drawn one after the other,
// since ids are unique over all of them, while earlier ones are being written.
func (s dataSize) generate(ctx context.Context, webapp, data string) error {
	var truth Dataset
	var err error
	if webapp == "" {
		err = s.draw(ctx, &truth, nil, nil)
	} else {
		err = s.writeDatabases(ctx, &truth, webapp)
	}
	if err != nil {
		return fmt.Errorf("generating the initial data: %w", err)
	}
	for name, v := range map[string]any{tenantsFile: truth.Tenants, samplesFile: truth.Samples} {
		if err := files.Write(filepath.Join(data, name), func(w io.Writer) error { return writeJSON(w, v) }); err != nil {
			return err
		}
	}
	return files.WriteBytes(filepath.Join(data, versionFile), []byte(s.version()+"\n"))
}

// writeDatabases draws all tenants and writes their databases.
func (s dataSize) writeDatabases(ctx context.Context, truth *Dataset, webapp string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	drawn := make(chan *tenantData)
	var writers sync.WaitGroup
	for range fileWriters {
		writers.Go(func() {
			for t := range drawn {
				if err := t.writeFile(ctx, filepath.Join(webapp, pristineDir)); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := files.Write(filepath.Join(webapp, filepath.FromSlash(adminData)), func(w io.Writer) error {
		return s.draw(ctx, truth, newAdminDump(w), drawn)
	})
	close(drawn)
	writers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// draw makes all tenants in the order of their ids. It adds them to the truth and
// to the dump, and sends them to the writers of files; dump and drawn may be nil.
func (s dataSize) draw(ctx context.Context, truth *Dataset, dump *adminDump, drawn chan<- *tenantData) error {
	ids := newIDs()
	for id := range int64(initialTenants) {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := s.drawTenant(id+1, ids)
		truth.add(t)
		if dump == nil {
			continue
		}
		dump.tenant(t)
		select {
		case drawn <- t:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if dump == nil {
		return nil
	}
	return dump.end()
}
