package isuumo

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

// dataVersion must change whenever the generator's output changes.
const dataVersion = "2"

// sqlFolder is the folder in webapp with the files that initialize loads: the
// schema, and the two that Generate writes.
const (
	sqlFolder     = "mysql/db"
	estateSQLFile = "1_DummyEstateData.sql"
	chairSQLFile  = "2_DummyChairData.sql"
)

// publicFolder is the folder in webapp of the static files.
const publicFolder = "public"

// rowsPerInsert is the number of rows of one INSERT in the data files.
const rowsPerInsert = 500

// generatedVersion returns the version of what Generate writes.
func generatedVersion() string { return dataVersion }

// Generate writes the initial data twice: as SQL into webapp for the app (with
// the thumbnails), and as CSV into data for the benchmarker, with the rows that it posts. With an empty
// webapp it writes the second only. The output is the same every time. Each file
// is complete or absent, and the version is written last.
func Generate(ctx context.Context, webapp, data string) error {
	return generateTo(ctx, webapp, data, contestSize)
}

// generateSmall is Generate for tests.
func generateSmall(ctx context.Context, webapp, data string) error {
	return generateTo(ctx, webapp, data, suiteSize)
}

func generateTo(ctx context.Context, webapp, data string, s size) error {
	set := generate(s)
	if webapp != "" {
		if err := writeApp(webapp, set); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("generating the initial data: %w", err)
	}
	if err := writeCopy(data, set); err != nil {
		return err
	}
	return files.WriteBytes(filepath.Join(data, versionFile), []byte(generatedVersion()+"\n"))
}

// writeApp writes the thumbnails, and what the app's database loads.
func writeApp(webapp string, set *Dataset) error {
	public := filepath.Join(webapp, publicFolder)
	if err := writeImages(public, newChairMaker().files, drawChair); err != nil {
		return err
	}
	if err := writeImages(public, newEstateMaker().files, drawHouse); err != nil {
		return err
	}
	err := files.Write(filepath.Join(webapp, sqlFolder, estateSQLFile), func(w io.Writer) error { return writeEstatesSQL(w, set.Estates) })
	if err != nil {
		return err
	}
	return files.Write(filepath.Join(webapp, sqlFolder, chairSQLFile), func(w io.Writer) error { return writeChairsSQL(w, set.Chairs) })
}

// writeCopy writes what readDataset reads.
func writeCopy(data string, set *Dataset) error {
	chairs := map[string][]Chair{initialName: set.Chairs, verifyName: set.VerifyChairs}
	for i, rows := range set.DraftChairs {
		chairs[draftName(i)] = rows
	}
	for name, rows := range chairs {
		if err := files.Write(chairFile(data, name), func(w io.Writer) error { return writeChairs(w, rows) }); err != nil {
			return err
		}
	}
	estates := map[string][]Estate{initialName: set.Estates, verifyName: set.VerifyEstates}
	for i, rows := range set.DraftEstates {
		estates[draftName(i)] = rows
	}
	for name, rows := range estates {
		if err := files.Write(estateFile(data, name), func(w io.Writer) error { return writeEstates(w, rows) }); err != nil {
			return err
		}
	}
	return nil
}

func writeEstatesSQL(w io.Writer, rows []Estate) error {
	const insert = "INSERT INTO isuumo.estate (id, thumbnail, name, latitude, longitude, address, rent, door_height, door_width, popularity, description, features) VALUES"
	return writeInserts(w, insert, rows, func(e *Estate) string {
		return fmt.Sprintf("(%d, %s, %s, %s, %s, %s, %d, %d, %d, %d, %s, %s)", e.ID, quote(e.Thumbnail), quote(e.Name), degrees(e.Latitude),
			degrees(e.Longitude), quote(e.Address), e.Rent, e.DoorHeight, e.DoorWidth, e.Popularity, quote(e.Description), quote(e.Features))
	})
}

func writeChairsSQL(w io.Writer, rows []Chair) error {
	const insert = "INSERT INTO isuumo.chair (id, thumbnail, name, price, height, width, depth, popularity, stock, color, description, features, kind) VALUES"
	return writeInserts(w, insert, rows, func(c *Chair) string {
		return fmt.Sprintf("(%d, %s, %s, %d, %d, %d, %d, %d, %d, %s, %s, %s, %s)", c.ID, quote(c.Thumbnail), quote(c.Name), c.Price, c.Height,
			c.Width, c.Depth, c.Popularity, c.Stock, quote(c.Color), quote(c.Description), quote(c.Features), quote(c.Kind))
	})
}

// writeInserts writes rows as INSERT statements of rowsPerInsert rows each.
func writeInserts[T any](w io.Writer, insert string, rows []T, values func(*T) string) error {
	for i := range rows {
		before, after := ",", ""
		if i%rowsPerInsert == 0 {
			before = insert
		}
		if (i+1)%rowsPerInsert == 0 || i+1 == len(rows) {
			after = ";\n"
		}
		if _, err := io.WriteString(w, before+values(&rows[i])+after); err != nil {
			return err
		}
	}
	return nil
}

// quote writes a text as an SQL literal.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
