package sqlschema

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A Column is a column of a table.
type Column struct {
	Name string
	Type string // as written, in lower case and without spaces around brackets: decimal(10,2) unsigned; "" for none
	// NotNull: declared so, or a column of the primary key in its own definition.
	NotNull  bool
	Auto     bool // AUTO_INCREMENT, AUTOINCREMENT, GENERATED … AS IDENTITY
	Computed bool // an expression gives its value: GENERATED ALWAYS AS (…)
	OnUpdate bool // an UPDATE that does not name it changes it: ON UPDATE CURRENT_TIMESTAMP
	// Charset and Collation are those of its texts, in lower case: its own, or of the table;
	// "" where neither says.
	Charset, Collation string
}

// optionWords end the type of a column.
var optionWords = []string{"CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "KEY", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS", "AUTO_INCREMENT", "AUTOINCREMENT",
	"ON", "COMMENT", "INVISIBLE", "VISIBLE", "STORED", "VIRTUAL", "PERSISTENT", "COLUMN_FORMAT", "STORAGE", "SRID", "REF_SYSTEM_ID", "COMPRESSED", "FIRST", "AFTER", "BINARY", "ASCII", "UNICODE"}

// columnOf reads an element of a table as a column, with the keys that it declares.
func columnOf(tokens []sqltext.Token) (col Column, keys []Key, err error) {
	c := &sqltext.Cursor{Tokens: tokens}
	var ok bool
	if c.Peek().Is("PRIMARY", "UNIQUE", "FOREIGN", "CONSTRAINT", "FULLTEXT", "SPATIAL", "LIKE") {
		return col, nil, fmt.Errorf("%q is no key that is read", textOf(tokens))
	}
	if col.Name, ok = c.Name(); !ok {
		return col, nil, fmt.Errorf("%q names no column", textOf(tokens))
	}
	col.Type, col.Charset = typeOf(c)
	key := func(sort Sort) { keys = append(keys, Key{Sort: sort, Parts: []Part{{Column: col.Name}}}) }
	if col.Type == "serial" { // of MySQL: a name for bigint unsigned not null auto_increment unique
		col.NotNull, col.Auto = true, true
		key(Unique)
	}
	for !c.Ended() {
		switch {
		case c.Take("not", "null"):
			col.NotNull = true
		case c.Take("primary", "key"), c.Take("key"):
			col.NotNull = true
			key(Primary)
		case c.Take("unique"):
			c.Take("key")
			key(Unique)
		case c.Any("auto_increment", "autoincrement", "identity"):
			col.Auto, col.Computed = true, false
		case c.Any("as"):
			col.Computed = true
		case c.Take("on", "update"):
			col.OnUpdate = true
		case c.Peek().Spells("references"):
			if r := referenceOf(c); r != nil {
				keys = append(keys, Key{Sort: Foreign, Parts: []Part{{Column: col.Name}}, Refers: r})
				continue
			}
			return col, nil, fmt.Errorf("column %s: what it refers to is not read", col.Name)
		case c.Take("collate"):
			col.Collation = lowerName(c)
		default:
			c.Any("default", "comment", "charset", "constraint") // the next token is its value
			if _, ok := c.Brackets(); !ok {
				c.At++
			}
		}
	}
	return col, keys, nil
}

// lowerName reads a name, or the quoted text that some servers take for one.
func lowerName(c *sqltext.Cursor) string {
	name, ok := c.Name()
	if !ok {
		name = strings.Trim(c.Peek().Text, "'\"")
		c.At++
	}
	return strings.ToLower(name)
}

// typeOf reads the type of a column, and its character set where one follows it.
func typeOf(c *sqltext.Cursor) (text, charset string) {
	var b strings.Builder
	for !c.Ended() {
		t := c.Peek()
		if c.Take("character", "set") || c.Take("char", "set") || c.Take("charset") {
			charset = lowerName(c)
			continue
		}
		if t.Is("WITH", "WITHOUT") && !(c.At+1 < len(c.Tokens) && c.Tokens[c.At+1].Is("TIME")) {
			break // of a system-versioned table
		}
		if inside, ok := c.Brackets(); ok {
			b.WriteString("(" + textOf(inside) + ")")
			continue
		}
		if !t.IsName() || t.Is(optionWords...) && !(b.Len() == 0 && t.Is("BINARY")) {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.ToLower(t.Name()))
		c.At++
	}
	return b.String(), charset
}

// textOf joins tokens without the spaces between them.
func textOf(tokens []sqltext.Token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.Text)
	}
	return b.String()
}

// Base is the type without its length and attributes: varchar, bigint, double precision.
func (c Column) Base() string {
	base, _, _ := strings.Cut(c.Type, "(")
	words := strings.Fields(base)
	for i, w := range words {
		if w == "unsigned" || w == "signed" || w == "zerofill" {
			words = words[:i]
			break
		}
	}
	return strings.Join(words, " ")
}

// serverNames are MariaDB's names of types that a statement may call otherwise.
var serverNames = map[string]string{"integer": "int", "int1": "tinyint", "int2": "smallint", "int3": "mediumint", "int4": "int", "int8": "bigint", "middleint": "mediumint", "bool": "tinyint(1)",
	"boolean": "tinyint(1)", "dec": "decimal", "numeric": "decimal", "fixed": "decimal", "double precision": "double", "real": "double", "float8": "double", "float4": "float",
	"character": "char", "nchar": "char", "national char": "char", "national character": "char", "character varying": "varchar", "char varying": "varchar", "varcharacter": "varchar", "nvarchar": "varchar",
	"national varchar": "varchar", "serial": "bigint(20) unsigned", "json": "longtext", "long": "mediumtext", "long varchar": "mediumtext", "long varbinary": "mediumblob"}

// serverWidths are the lengths that MariaDB shows of types without one; the second is for
// unsigned ones.
var serverWidths = map[string][2]string{"tinyint": {"(4)", "(3)"}, "smallint": {"(6)", "(5)"}, "mediumint": {"(9)", "(8)"}, "int": {"(11)", "(10)"}, "bigint": {"(20)", "(20)"},
	"decimal": {"(10,0)", "(10,0)"}, "char": {"(1)", "(1)"}, "binary": {"(1)", "(1)"}, "bit": {"(1)", "(1)"}, "year": {"(4)", "(4)"}}

// ServerType is the type as MariaDB shows it: int(11), bigint(20) unsigned, decimal(10,2).
func (c Column) ServerType() string {
	base := c.Base()
	rest := strings.TrimPrefix(c.Type, base)
	args, attributes := "", rest
	if strings.HasPrefix(rest, "(") {
		if i := strings.LastIndexByte(rest, ')'); i > 0 {
			args, attributes = rest[:i+1], rest[i+1:]
		}
	}
	attributes = strings.ReplaceAll(attributes, " signed", "")
	if strings.Contains(attributes, "zerofill") {
		attributes = " unsigned zerofill"
	}
	if name := serverNames[base]; name != "" {
		base = name
	}
	if w, ok := serverWidths[base]; ok && args == "" {
		args = w[0]
		if strings.Contains(attributes, "unsigned") {
			args = w[1]
		}
	}
	if base == "decimal" && !strings.Contains(args, ",") {
		args = strings.TrimSuffix(args, ")") + ",0)"
	}
	return base + args + attributes
}
