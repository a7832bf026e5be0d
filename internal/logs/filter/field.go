package filter

import (
	"strings"
	"time"
)

// A Kind is the type of a field: it decides which operators and values a
// condition may have.
type Kind uint8

const (
	Text     Kind = iota
	Integer       // 1200
	Duration      // 200ms, 1.5s; a bare number is seconds. The unit of the field is ns.
	Size          // bytes: 1200, 4k, 1MiB
	Status        // 404, 5xx
	Time          // 2026-11-19 04:04:05; the unit of the field is ns since 1970
	Flag          // yes or no
)

// A Field is a property of an entry of type T. One of the functions is set:
// Text for texts, Flag for flags, Number for all other kinds.
type Field[T any] struct {
	Names []string // the first one is listed in errors; case, "-" and "_" do not matter
	Kind  Kind
	Text  func(*T) []byte
	Flag  func(*T) bool
	// Number returns a negative number if the entry lacks the field. No
	// condition holds for it.
	Number func(*T) int64
}

// Fields are the fields of entries of type T and the options of the language.
type Fields[T any] struct {
	All      []Field[T]
	FoldCase bool           // regular expressions ignore case
	Zone     *time.Location // of times without a zone; nil: UTC
	// Stamp reads times in the forms of the log; nil if there are none.
	Stamp func(text string) (time.Time, bool)
}

// A Condition is a part of a filter.
type Condition[T any] struct {
	Source string   // the condition as written
	Fields []string // first names of the fields it uses, sorted, each once
	test   func(*T) bool
}

// Holds reports whether an entry meets the condition.
func (c *Condition[T]) Holds(entry *T) bool { return c.test(entry) }

// Uses reports whether the condition uses a field, by its first name.
func (c *Condition[T]) Uses(field string) bool {
	for _, f := range c.Fields {
		if f == field {
			return true
		}
	}
	return false
}

func plainName(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(s), "-", ""), "_", "")
}

func (f *Fields[T]) find(name string) *Field[T] {
	plain := plainName(name)
	for i := range f.All {
		for _, n := range f.All[i].Names {
			if plainName(n) == plain {
				return &f.All[i]
			}
		}
	}
	return nil
}

// names lists the fields for errors.
func (f *Fields[T]) names() string {
	var all []string
	for i := range f.All {
		all = append(all, f.All[i].Names[0])
	}
	return strings.Join(all, ", ")
}
