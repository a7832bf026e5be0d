package isucondition

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

const (
	// dataVersion must change whenever the generator's output changes.
	dataVersion = "1"

	initialFile = "initialize.json"
	imagesDir   = "images"
	sumsFile    = "images.md5"
	versionFile = "version"
	sqlFile     = "1_InitData.sql"

	sqlTime = "2006-01-02 15:04:05.000000"
)

// imageSums are the MD5 sums of the pool, one per line, recorded when the arena
// was made. A test compares the drawings with them.
//
//go:embed images.md5
var imageSums string

// generatedVersion returns the version of what Generate writes.
func generatedVersion() string {
	sum := sha256.Sum256([]byte(dataVersion + "\n" + imageSums))
	return dataVersion + "-" + hex.EncodeToString(sum[:6])
}

// Generate writes the initial data twice: as SQL into webapp/sql for the app, and
// with the pool of icons into data for the benchmarker. With an empty webapp it
// writes no SQL. The output is the same every time. Each file is complete or
// absent, and the version is written last.
func Generate(ctx context.Context, webapp, data string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("generating the initial data: %w", err)
	}
	pool, err := thePool()
	if err != nil {
		return fmt.Errorf("drawing the icons: %w", err)
	}
	users := generateUsers(pool)
	if webapp != "" {
		err := files.Write(filepath.Join(webapp, "sql", sqlFile), func(w io.Writer) error {
			return writeSQL(w, users, pool)
		})
		if err != nil {
			return err
		}
	}
	if err := files.WriteBytes(filepath.Join(data, sumsFile), []byte(sums(pool))); err != nil {
		return err
	}
	for i, img := range pool {
		if err := files.WriteBytes(imageFile(data, i), img.Bytes); err != nil {
			return err
		}
	}
	if err := files.Write(filepath.Join(data, initialFile), func(w io.Writer) error { return writeJSON(w, users) }); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("generating the initial data: %w", err)
	}
	return files.WriteBytes(filepath.Join(data, versionFile), []byte(generatedVersion()+"\n"))
}

// sums lists the MD5 sums of icons, one per line.
func sums(pool []Image) string {
	var b strings.Builder
	for _, img := range pool {
		fmt.Fprintf(&b, "%x\n", img.MD5)
	}
	return b.String()
}

func imageFile(data string, i int) string {
	return filepath.Join(data, imagesDir, fmt.Sprintf("%03d.jpg", i))
}

// writeSQL writes the data in the form that the app's database loads. Times are
// JST.
func writeSQL(w io.Writer, users []User, pool []Image) error {
	images := map[MD5][]byte{}
	for _, img := range pool {
		images[img.MD5] = img.Bytes
	}
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "START TRANSACTION;")
	for _, u := range users {
		created := u.CreatedAt.In(JST).Format(sqlTime)
		fmt.Fprintf(out, "INSERT INTO `user` (`jia_user_id`, `created_at`) VALUES ('%s', '%s');\n", u.ID, created)
		for _, isu := range u.ISUs {
			created := isu.CreatedAt.In(JST).Format(sqlTime)
			fmt.Fprintf(out, "INSERT INTO `isu` (`id`, `jia_isu_uuid`, `name`, `image`, `character`, `jia_user_id`, `created_at`, `updated_at`)"+
				" VALUES (%d, '%s', '%s', 0x%x, '%s', '%s', '%s', '%s');\n",
				isu.ID, isu.UUID, isu.Name, images[isu.Image], isu.Character, u.ID, created, created)
			writeConditionsSQL(out, isu)
		}
	}
	fmt.Fprintln(out, "COMMIT;")
	return out.Flush()
}

func writeConditionsSQL(out io.Writer, isu ISU) {
	fmt.Fprint(out, "INSERT INTO `isu_condition` (`jia_isu_uuid`, `timestamp`, `is_sitting`, `condition`, `message`, `created_at`) VALUES")
	for i, c := range isu.Conditions {
		separator := ","
		if i == 0 {
			separator = ""
		}
		at := time.Unix(c.Timestamp, 0).In(JST)
		sitting := 0
		if c.IsSitting {
			sitting = 1
		}
		fmt.Fprintf(out, "%s\n('%s', '%s', %d, '%s', '%s', '%s')", separator,
			isu.UUID, at.Format(time.DateTime), sitting, c.Flags.Condition(), c.Message, at.Format(sqlTime))
	}
	fmt.Fprintln(out, ";")
}
