package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/summary"
)

// JSON writes the summary as one JSON document.
func JSON(w io.Writer, s *summary.Summary) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// TSV returns the tables of the report by file name.
func TSV(s *summary.Summary) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, t := range tables(s) {
		var b bytes.Buffer
		if err := t.Write(&b, report.TSV, 0); err != nil {
			return nil, fmt.Errorf("writing the table of %s: %w", t.Name, err)
		}
		files[t.Name+".tsv"] = b.Bytes()
	}
	return files, nil
}
