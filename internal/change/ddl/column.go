package ddl

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// columnArgs are the arguments of "add column". The server computes the value of the
// column, so that its removal loses no data. The column is invisible: SELECT * and an
// INSERT without a list of columns stay as they were.
type columnArgs struct {
	tableArgs
	Name      plainName `arg:"name,required" help:"the new column"`
	Type      string    `arg:"type,required" help:"its type, as in tinyint or decimal(8,2)"`
	As        string    `arg:"as" help:"expression over other columns: a stored generated column"`
	Default   string    `arg:"default" help:"expression over other columns that is computed once, when the row is inserted, for a type that cannot be generated (point); NOT NULL"`
	Columns   string    `arg:"columns" help:"key parts of an index that is added in the same statement"`
	Index     string    `arg:"index" oneof:"btree,spatial" default:"btree" help:"btree or spatial"`
	IndexName string    `arg:"index name" help:"the index's name"`
}

// typeForm is the form of a column's type. Attributes (NOT NULL, COMMENT …) are not a
// part of it.
var typeForm = regexp.MustCompile(`^(?i)[a-z]+( ?\([0-9, ]{1,12}\))?( unsigned)?$`)

// alter adds the column, and an index if the arguments name its columns.
func (a *columnArgs) alter(d definition) (alter, error) {
	element, err := a.element()
	if err != nil {
		return alter{}, err
	}
	if have := d.column(string(a.Name)); have != "" {
		// The server rewrites some expressions: date(a) becomes cast(a as date). Such a
		// column is refused as another one.
		if plainTokens(have) == plainTokens(element) {
			return alter{}, change.ErrNothing
		}
		return alter{}, fmt.Errorf("the table has a column %s already:\n%s", a.Name, have)
	}
	out := alter{column: element, says: "add column " + string(a.Name)}
	if a.Columns == "" {
		return out, nil
	}
	d.elements = append(d.elements[:len(d.elements):len(d.elements)], "  "+element)
	index, err := (&addArgs{tableArgs: a.tableArgs, Columns: a.Columns, Index: a.Index, Name: a.IndexName}).alter(d)
	if err != nil {
		return alter{}, err
	}
	out.add, out.says = index.add, out.says+" and index "+strings.TrimPrefix(index.says, "add index ")
	return out, nil
}

// element is the column as CREATE TABLE and ALTER TABLE … ADD take it.
func (a *columnArgs) element() (string, error) {
	expression := a.As
	switch {
	case (a.As == "") == (a.Default == ""):
		return "", errors.New(`a new column has either "as" or "default"`)
	case !typeForm.MatchString(a.Type):
		return "", fmt.Errorf("type %q: want a type without attributes, such as tinyint", a.Type)
	case a.Default != "":
		expression = a.Default
	}
	if err := oneExpression(expression); err != nil {
		return "", err
	}
	if a.As != "" {
		return fmt.Sprintf("%s %s GENERATED ALWAYS AS (%s) STORED INVISIBLE", sqltext.MySQL.Quote(string(a.Name)), a.Type, a.As), nil
	}
	return fmt.Sprintf("%s %s NOT NULL INVISIBLE DEFAULT (%s)", sqltext.MySQL.Quote(string(a.Name)), a.Type, a.Default), nil
}

// oneExpression refuses a text that is more than one expression between brackets: it
// becomes a part of a statement on the live table.
func oneExpression(text string) error {
	refused := fmt.Errorf("expression %q: want one expression over columns of the table, without comments", text)
	all := sqltext.MySQL.Statements(text)
	if len(all) != 1 || all[0].Delimiter != "" || strings.ContainsAny(text, "\\\"") { // the sql_mode decides what they mean
		return refused
	}
	depth, from := 0, 0
	for _, t := range all[0].Tokens {
		switch {
		case t.Kind == sqltext.Executed || t.Is("SELECT") || strings.TrimSpace(text[from:t.Start]) != "": // a comment
			return refused
		case t.Open: // a quote without its end
			return refused
		case t.Spells("("):
			depth++
		case t.Spells(")"):
			depth--
		case t.Spells(",") && depth == 0:
			return refused
		}
		if depth < 0 {
			return refused
		}
		from = t.End
	}
	if depth != 0 || strings.TrimSpace(text[from:]) != "" {
		return refused
	}
	return nil
}

// plainTokens is a column's element without what the server adds to it: quotes of
// names, brackets, the width of an integer, and the case of words.
func plainTokens(element string) string {
	var words []string
	depth := 0
	for _, s := range sqltext.MySQL.Statements(element) {
		for i, t := range s.Tokens {
			switch {
			case t.Spells("("):
				depth++
			case t.Spells(")"):
				depth--
			case t.Kind == sqltext.Quoted:
				words = append(words, strings.ToLower(t.Name()))
			case depth == 1 && i > 0 && i < 5: // the width that the server shows for an integer
			default:
				words = append(words, strings.ToLower(t.Text))
			}
		}
	}
	return strings.Join(words, " ")
}

// onFile refuses the act: SQLite cannot add a stored generated column.
func (a *columnArgs) onFile(fileTable) (fileAlter, error) {
	return fileAlter{}, errors.New("a generated column cannot be added to a table of a SQLite file")
}
