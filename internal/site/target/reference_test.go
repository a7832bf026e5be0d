package target

import (
	"fmt"
	"strings"
)

// Reference is the list of keys as Markdown tables, one for each table of the file.
func Reference() string {
	var b strings.Builder
	top := all()
	top.reference(&b, "", "The file itself, above all tables")
	b.WriteString("\n### Profiles of a policy\n\n| profile | promises that changes may weaken |\n|---|---|\n")
	for _, p := range Profiles() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", p, p.Text())
	}
	return b.String()
}

func (f *field) reference(b *strings.Builder, name, title string) {
	fmt.Fprintf(b, "### %s\n\n| key | type | meaning |\n|---|---|---|\n", title)
	for i := range f.fields {
		c := &f.fields[i]
		key := "`" + c.key + "`"
		if c.need {
			key += " (required)"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", key, c.typeText(), strings.ReplaceAll(c.meaning(), "|", `\|`))
	}
	for i := range f.fields {
		c := &f.fields[i]
		switch c.kind {
		case table:
			b.WriteByte('\n')
			c.reference(b, join(name, c.key), fmt.Sprintf("`[%s]`", join(name, c.key)))
		case tables:
			b.WriteByte('\n')
			c.reference(b, join(name, c.key), fmt.Sprintf("`[[%s]]`", join(name, c.key)))
		}
	}
}

func (f *field) typeText() string {
	switch f.kind {
	case list:
		return "list of " + string(f.of) + "s"
	case tables:
		return "list of tables"
	case mapping:
		return "table of strings"
	}
	return string(f.kind)
}

func (f *field) meaning() string {
	out := f.help
	if f.words != nil {
		out += "; one of " + strings.Join(f.words, ", ")
	}
	if f.example != "" {
		out += "; as in `" + f.example + "`"
	}
	return out
}
