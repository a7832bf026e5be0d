package isucholar

import (
	"context"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

const pageSize = 20

// A listing is a list in pages that the benchmarker knows in full. Its checks begin with
// name, as in "search-missing".
type listing[T any] struct {
	name string
	step scenario.Step
	path string // of the first page
	want []T
	get  func(ctx context.Context, path string) ([]T, links, error)
	id   func(T) string
	same func(got, want T) bool
}

func (l *listing[T]) wrong(check, format string, args ...any) error {
	return wrong(l.step, l.name+"-"+check, l.path+": "+format, args...)
}

// walk follows the links to the last page and back, and compares each page. All rows
// must be there once, in order, with no empty page.
func (l *listing[T]) walk(ctx context.Context) error {
	pages, last, err := l.forward(ctx)
	if err != nil {
		return err
	}
	back := last.prev
	for i := len(pages) - 2; i >= 0; i-- {
		if back == "" {
			return l.wrong("link", "page %d has no link to the page before", i+2)
		}
		got, at, err := l.get(ctx, back)
		if err != nil {
			return err
		}
		if len(got) != len(pages[i]) {
			return l.wrong("prev", "page %d has %d rows on the way back, %d before", i+1, len(got), len(pages[i]))
		}
		if err := l.compare(got, pages[i]); err != nil {
			return l.wrong("prev", "page %d is another one on the way back: %v", i+1, err)
		}
		back = at.prev
	}
	if back != "" {
		return l.wrong("link", "the first page has a link to a page before")
	}
	return nil
}

// forward walks to the last page, and returns what each page should have.
func (l *listing[T]) forward(ctx context.Context) (pages [][]T, last links, err error) {
	rest, path := l.want, l.path
	for number := 1; ; number++ {
		got, at, err := l.get(ctx, path)
		if err != nil {
			return nil, at, err
		}
		page := rest[:min(pageSize, len(rest))]
		rest = rest[len(page):]
		if len(got) > pageSize {
			return nil, at, l.wrong("size", "page %d has %d rows, at most %d fit", number, len(got), pageSize)
		}
		if err := l.compare(got, page); err != nil {
			return nil, at, err
		}
		if hasNext := at.next != ""; hasNext != (len(rest) > 0) {
			return nil, at, l.wrong("link", "page %d has a next page: %v, and %d rows are left", number, hasNext, len(rest))
		}
		if hasPrev := at.prev != ""; hasPrev != (number > 1) {
			return nil, at, l.wrong("link", "page %d has a page before: %v", number, hasPrev)
		}
		if pages = append(pages, page); at.next == "" {
			return pages, at, nil
		}
		path = at.next
	}
}

// compare compares the rows of a page.
func (l *listing[T]) compare(got, want []T) error {
	places := make(map[string]int, len(got))
	for i, row := range got {
		if _, twice := places[l.id(row)]; twice {
			return l.wrong("twice", "%s is on a page twice", l.id(row))
		}
		places[l.id(row)] = i
	}
	for _, row := range want {
		if _, ok := places[l.id(row)]; !ok {
			return l.wrong("missing", "%s is missing on its page", l.id(row))
		}
	}
	if len(got) != len(want) {
		return l.wrong("extra", "%d rows on a page, want %d", len(got), len(want))
	}
	for i, row := range want {
		if at := places[l.id(row)]; at != i {
			return l.wrong("order", "%s is in place %d, want %d", l.id(row), at+1, i+1)
		}
		if !l.same(got[i], row) {
			return l.wrong("fields", "row %+v, want %+v", got[i], row)
		}
	}
	return nil
}
