package isuumo

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// writeChairs writes rows as CSV in the form that POST /api/chair reads.
func writeChairs(w io.Writer, rows []Chair) error {
	return writeRows(w, rows, func(c *Chair) []string {
		return []string{decimal(c.ID), c.Name, c.Description, c.Thumbnail, decimal(c.Price), decimal(c.Height),
			decimal(c.Width), decimal(c.Depth), c.Color, c.Features, c.Kind, decimal(c.Popularity), decimal(c.Stock)}
	})
}

// writeEstates writes rows as CSV in the form that POST /api/estate reads.
func writeEstates(w io.Writer, rows []Estate) error {
	return writeRows(w, rows, func(e *Estate) []string {
		return []string{decimal(e.ID), e.Name, e.Description, e.Thumbnail, e.Address, degrees(e.Latitude), degrees(e.Longitude),
			decimal(e.Rent), decimal(e.DoorHeight), decimal(e.DoorWidth), e.Features, decimal(e.Popularity)}
	})
}

func decimal(v int64) string { return strconv.FormatInt(v, 10) }

func degrees(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func writeRows[T any](w io.Writer, rows []T, fields func(*T) []string) error {
	out := csv.NewWriter(w)
	for i := range rows {
		if err := out.Write(fields(&rows[i])); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// readChairs reads what writeChairs wrote.
func readChairs(r io.Reader) ([]Chair, error) {
	return readRows(r, 13, func(f *fields) Chair {
		return Chair{ID: f.number(), Name: f.text(), Description: f.text(), Thumbnail: f.text(), Price: f.number(), Height: f.number(),
			Width: f.number(), Depth: f.number(), Color: f.text(), Features: f.text(), Kind: f.text(), Popularity: f.number(), Stock: f.number()}
	})
}

// readEstates reads what writeEstates wrote.
func readEstates(r io.Reader) ([]Estate, error) {
	return readRows(r, 12, func(f *fields) Estate {
		return Estate{ID: f.number(), Name: f.text(), Description: f.text(), Thumbnail: f.text(), Address: f.text(), Latitude: f.degrees(),
			Longitude: f.degrees(), Rent: f.number(), DoorHeight: f.number(), DoorWidth: f.number(), Features: f.text(), Popularity: f.number()}
	})
}

// fields reads the fields of one record in their order. The first error stays.
type fields struct {
	rest []string
	err  error
}

func (f *fields) text() string {
	first := f.rest[0]
	f.rest = f.rest[1:]
	return first
}

func (f *fields) number() int64 {
	v, err := strconv.ParseInt(f.text(), 10, 64)
	f.err = errors.Join(f.err, err)
	return v
}

func (f *fields) degrees() float64 {
	v, err := strconv.ParseFloat(f.text(), 64)
	f.err = errors.Join(f.err, err)
	return v
}

func readRows[T any](r io.Reader, columns int, row func(*fields) T) ([]T, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = columns
	in.ReuseRecord = true
	var rows []T
	for {
		record, err := in.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		f := fields{rest: record}
		rows = append(rows, row(&f))
		if f.err != nil {
			return nil, fmt.Errorf("record %d: %w", len(rows), f.err)
		}
	}
}
