package isuxi

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

const (
	// dataVersion must change whenever the generator's output changes.
	dataVersion = "2"
	dataSeed    = 941

	dataSQL     = "1_data.sql"
	datasetFile = "benchmarker.json"
)

// version differs for data of other sizes and for other static files.
func (s dataSize) version() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %v", dataVersion, s)
	for _, f := range staticFiles() {
		sum.Write(f.body)
	}
	return dataVersion + "-" + hex.EncodeToString(sum.Sum(nil)[:6])
}

// Generate writes the initial data of the contest and the static files into webapp, and the
// benchmarker's copy of what it checks into data. With an empty webapp it writes only the
// copy. The output is the same every time.
func Generate(ctx context.Context, webapp, data string) error {
	return contestSize.generate(ctx, webapp, data)
}

func (s dataSize) generate(ctx context.Context, webapp, data string) error {
	w := s.draw()
	if webapp != "" {
		if err := w.lay(ctx, webapp); err != nil {
			return err
		}
	}
	return files.Write(filepath.Join(data, datasetFile), func(out io.Writer) error { return json.NewEncoder(out).Encode(w.dataset()) })
}

// lay writes the files of the site.
func (w *world) lay(ctx context.Context, webapp string) error {
	if err := files.Write(filepath.Join(webapp, "sql", dataSQL), w.writeSQL); err != nil {
		return err
	}
	for _, t := range w.tables() {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := files.Write(filepath.Join(webapp, "sql", t.file()), func(out io.Writer) error {
			b := bufio.NewWriter(out)
			t.write(b)
			return b.Flush()
		})
		if err != nil {
			return err
		}
	}
	for _, f := range staticFiles() {
		if err := files.WriteBytes(filepath.Join(webapp, staticFolder, filepath.FromSlash(f.path)), f.body); err != nil {
			return err
		}
	}
	return nil
}
