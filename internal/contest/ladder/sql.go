package ladder

import (
	"regexp"
	"strings"

	"github.com/iikanji/iikanji"
)

const ident = "`?([A-Za-z0-9_]+)`?"

var (
	createIndex = regexp.MustCompile(`(?is)^CREATE\s+(SPATIAL\s+)?INDEX\s+` + ident + `\s+ON\s+` + ident + `\s*\((.+)\)$`)
	dropIndex   = regexp.MustCompile(`(?is)^DROP\s+INDEX\s+` + ident + `\s+ON\s+` + ident + `$`)
	alterTable  = regexp.MustCompile(`(?is)^ALTER\s+TABLE\s+` + ident + `\s+(.+)$`)
	addPart     = regexp.MustCompile(`(?is)^ADD\s+(SPATIAL\s+)?INDEX\s+(?:` + ident + `\s*)?\((.+?)\)(?:\s*,\s*DROP\s+INDEX\s+` + ident + `)?$`)
	dropPart    = regexp.MustCompile(`(?is)^DROP\s+INDEX\s+` + ident + `$`)
)

// readSQL reads statements about indexes. Each is a remedy of kind ddl in
// the schema file that initialize loads.
func readSQL(h heading, body string) ([]placed, *Error) {
	var all []placed
	line := 1
	for statement := range strings.SplitAfterSeq(body, ";") {
		text, skipped := uncommented(statement)
		at := line + skipped
		line += strings.Count(statement, "\n")
		if text == "" {
			continue
		}
		if !strings.HasSuffix(text, ";") {
			return nil, mistake(at, "the statement has no ;").hint("each statement ends in ;")
		}
		args := argsOf(strings.TrimSpace(strings.TrimSuffix(text, ";")))
		if args == nil {
			return nil, mistake(at, "not a statement about an index: %.60q", text).
				hint("want CREATE INDEX, DROP INDEX, or ALTER TABLE with ADD INDEX (and one DROP INDEX behind it) or DROP INDEX; other changes of tables are no acts of the kind ddl")
		}
		args["schema"], args["into"] = h.values["schema"], "schema file"
		all = append(all, placed{iikanji.Remedy{Kind: "ddl", Target: h.values["target"], Args: args}, at})
	}
	return all, nil
}

// uncommented is a statement without the comment lines and the empty lines before
// it, and how many lines these are.
func uncommented(statement string) (text string, skipped int) {
	lines := strings.Split(statement, "\n")
	for skipped < len(lines) {
		l := strings.TrimSpace(lines[skipped])
		if l != "" && !strings.HasPrefix(l, "--") {
			break
		}
		skipped++
	}
	return strings.TrimSpace(strings.Join(lines[skipped:], "\n")), skipped
}

// argsOf are the arguments of a statement for the kind ddl; nil for another one.
func argsOf(statement string) map[string]string {
	if m := createIndex.FindStringSubmatch(statement); m != nil {
		return addArgs(m[1], m[2], m[3], m[4], "")
	}
	if m := dropIndex.FindStringSubmatch(statement); m != nil {
		return map[string]string{"act": "drop index", "name": m[1], "table": m[2]}
	}
	t := alterTable.FindStringSubmatch(statement)
	if t == nil {
		return nil
	}
	if m := addPart.FindStringSubmatch(t[2]); m != nil {
		return addArgs(m[1], m[2], t[1], m[3], m[4])
	}
	if m := dropPart.FindStringSubmatch(t[2]); m != nil {
		return map[string]string{"act": "drop index", "name": m[1], "table": t[1]}
	}
	return nil
}

func addArgs(spatial, name, table, columns, drop string) map[string]string {
	args := map[string]string{"act": "add index", "table": table, "columns": strings.TrimSpace(columns)}
	if spatial != "" {
		args["index"] = "spatial"
	}
	if name != "" {
		args["name"] = name
	}
	if drop != "" {
		args["drop"] = drop
	}
	return args
}
