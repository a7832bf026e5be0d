package window

import (
	"fmt"
	"maps"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// Statement is what carries out a remedy where no site is at hand: the DDL of an
// index, or the lines of a database's configuration. It is not tried on the site.
func Statement(r iikanji.Remedy) (text string, ok bool) {
	switch r.Kind {
	case "ddl":
		return ddl(r.Args)
	case "mysqlconf":
		if len(r.Args) == 0 {
			return "", false
		}
		text = "[mysqld]\n"
		for _, name := range slices.Sorted(maps.Keys(r.Args)) {
			text += fmt.Sprintf("%s = %s\n", name, r.Args[name])
		}
		return text, true
	}
	return "", false
}

func ddl(args map[string]string) (string, bool) {
	table := sqltext.MySQL.Quote(args["schema"]) + "." + sqltext.MySQL.Quote(args["table"])
	switch {
	case args["schema"] == "" || args["table"] == "":
		return "", false
	case args["act"] == "drop index" && args["name"] != "":
		return fmt.Sprintf("ALTER TABLE %s DROP INDEX %s;\n", table, sqltext.MySQL.Quote(args["name"])), true
	case args["act"] == "add index" && args["columns"] != "":
		kind := "INDEX"
		if args["index"] == "spatial" {
			kind = "SPATIAL INDEX"
		}
		text := "ALTER TABLE " + table
		if args["drop"] != "" {
			text += " DROP INDEX " + sqltext.MySQL.Quote(args["drop"]) + ","
		}
		return fmt.Sprintf("%s ADD %s (%s);\n", text, kind, args["columns"]), true
	}
	return "", false
}
