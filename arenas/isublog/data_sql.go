package isublog

import (
	"bufio"
	"context"
	"crypto/sha256"
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

	sqlFile     = "1_InitData.sql"
	restoreFile = "2_Restore.sql"
	versionFile = "version"
	// rowsPerInsert keeps a statement below the contest's max_allowed_packet.
	rowsPerInsert = 200
)

// generatedVersion returns the version of what Generate writes.
func generatedVersion() string {
	sum := sha256.Sum256([]byte(dataVersion + "\n" + staticSums))
	return dataVersion + "-" + hex.EncodeToString(sum[:6])
}

// Generate writes the initial data as SQL and the static files into webapp, and the
// version into data. The benchmarker draws its copy of the articles by itself. The
// output is the same every time. Each file is complete or absent, and the version
// is written last.
func Generate(ctx context.Context, webapp, data string) error {
	if webapp != "" {
		static, err := staticFiles()
		if err != nil {
			return err
		}
		for _, f := range static {
			if err := files.WriteBytes(filepath.Join(webapp, "public", f.Path), f.Body); err != nil {
				return err
			}
		}
		if err := files.Write(filepath.Join(webapp, "sql", sqlFile), func(w io.Writer) error { return writeSQL(ctx, w) }); err != nil {
			return err
		}
		if err := files.Write(filepath.Join(webapp, "sql", restoreFile), writeRestore); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("generating the initial data: %w", err)
	}
	return files.WriteBytes(filepath.Join(data, versionFile), []byte(generatedVersion()+"\n"))
}

// writeSQL writes the rows in the order of their ids. Times are JST. Without the
// two checks, which the generated rows pass, MariaDB loads an empty table faster.
func writeSQL(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintln(out, "SET unique_checks = 0, foreign_key_checks = 0;\nSTART TRANSACTION;")
	for i, a := range initialArticles() {
		begin(out, i, "INSERT INTO `article` (`id`, `title`, `body`, `created_at`) VALUES")
		fmt.Fprintf(out, "(%d, %s, %s, '%s')", a.ID, quoted(a.Title), quoted(a.Body), a.CreatedAt.Format(time.DateTime))
	}
	fmt.Fprintln(out, ";")
	err := eachComment(func(c Comment) error {
		begin(out, c.ID-1, "INSERT INTO `comment` (`id`, `article`, `name`, `body`, `created_at`) VALUES")
		name := "NULL"
		if c.Name != "" {
			name = quoted(c.Name)
		}
		fmt.Fprintf(out, "(%d, %d, %s, %s, '%s')", c.ID, c.Article, name, quoted(c.Body), c.CreatedAt.Format(time.DateTime))
		return ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("generating the comments: %w", err)
	}
	fmt.Fprintln(out, ";\nCOMMIT;")
	return out.Flush()
}

// begin writes what comes before row i: the head of a statement, or a comma.
func begin(out *bufio.Writer, i int, head string) {
	switch {
	case i%rowsPerInsert != 0:
		out.WriteString(",\n") // errors come back from Flush
	case i == 0:
		out.WriteString(head + "\n")
	default:
		out.WriteString(";\n" + head + "\n")
	}
}

// writeRestore writes the statements that remove all rows but the initial ones. The
// app never changes or deletes a row.
func writeRestore(w io.Writer) error {
	_, err := fmt.Fprintf(w, `DELETE FROM comment WHERE id > %[1]d;
DELETE FROM article WHERE id > %[2]d;
ALTER TABLE comment AUTO_INCREMENT = %[3]d;
ALTER TABLE article AUTO_INCREMENT = %[4]d;
`, Comments, Articles, Comments+1, Articles+1)
	return err
}

var quoter = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`)

func quoted(text string) string { return "'" + quoter.Replace(text) + "'" }
