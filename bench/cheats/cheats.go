package main

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// A cheat is a change of the source that makes the app faster by breaking a promise
// to its users.
type cheat struct {
	name     string
	file     string
	old, new string // replaced once
	// want are the accepted reasons. The first line of the verdict's reason contains one of
	// them: the check that the patch breaks, a status, or the answer that differs.
	want []string
}

// cheats are patches of the app of isucondition.
var cheats = []cheat{
	{"answer 200 with an empty list", "isu.go", "for _, isu := range isus {\n\t\titem", "for _, isu := range isus[:0] {\n\t\titem", []string{"list-", "GET /api/isu is answered differently: the body differs at its root"}},
	{"leave out the newest condition", "isu.go", "item.LatestIsuCondition = newest.response(isu.Name, level)", "_ = level", []string{"list-latest", "GET /api/isu is answered differently: the body differs at [].latest_isu_condition"}},
	{"answer the ISU of anybody", "isu.go", "WHERE `jia_user_id` = ? AND `jia_isu_uuid` = ?\", user, c.Param(\"jia_isu_uuid\"))\n\tif errors.Is(err, sql.ErrNoRows) {\n\t\treturn c.String(http.StatusNotFound, \"not found: isu\")\n\t} else if err != nil {\n\t\treturn serverError(c, \"reading the ISU\", err)",
		"WHERE ? <> '' AND `jia_isu_uuid` = ?\", user, c.Param(\"jia_isu_uuid\"))\n\tif errors.Is(err, sql.ErrNoRows) {\n\t\treturn c.String(http.StatusNotFound, \"not found: isu\")\n\t} else if err != nil {\n\t\treturn serverError(c, \"reading the ISU\", err)", []string{"foreign-isu", "the status is 200 instead of 404"}},
	{"answer the icon of anybody", "isu.go", "SELECT `image` FROM `isu` WHERE `jia_user_id` = ? AND", "SELECT `image` FROM `isu` WHERE ? <> '' AND", []string{"foreign-isu", "/icon is answered differently: the status is 200 instead of 404"}},
	{"send one icon for all", "isu.go", "return c.Blob(http.StatusOK, \"\", image)", "image, _ = os.ReadFile(noImage)\n\treturn c.Blob(http.StatusOK, \"\", image)", []string{"icon-md5", "/icon is answered differently: the body has "}},
	{"do not have JIA activate", "isu.go", "character, status, err := a.activate(tx, uuid)", "character, status, err := \"lazy\", http.StatusAccepted, error(nil)", []string{"isu-character"}},
	{"answer a registration early and do not store it", "isu.go", "if err := tx.Commit(); err != nil {\n\t\treturn serverError(c, \"committing\", err)\n\t}\n\treturn c.JSON(http.StatusCreated, isu.response())", "return c.JSON(http.StatusCreated, isu.response())", []string{"list-", "status 404", "duplicate"}},
	{"skip the durable write of a user", "auth.go", "if _, err := a.db.Exec(\"INSERT IGNORE INTO `user` (`jia_user_id`) VALUES (?)\", id); err != nil {\n\t\treturn serverError(c, \"storing the user\", err)\n\t}\n", "", []string{"status 401"}},
	{"refuse requests when busy", "condition.go", "uuid := c.Param(\"jia_isu_uuid\")\n\tvar name string", "if a.db.Stats().InUse > 2 {\n\t\treturn c.NoContent(http.StatusServiceUnavailable)\n\t}\n\tuuid := c.Param(\"jia_isu_uuid\")\n\tvar name string", []string{"status 503"}},
	{"shorten pages of conditions", "condition.go", "conditionLimit = 20", "conditionLimit = 5", []string{"condition-missing", "condition-count", "is answered differently: the body differs at its root"}},
	{"ignore the filter by level", "condition.go", "if wanted[level] {", "if wanted[level] || level != \"\" {", []string{"condition-filter", "is answered differently: the body differs at its root"}},
	{"answer graphs without data", "graph.go", "item.Data = &hours[i].point\n\t\t\t\titem.ConditionTimestamps = hours[i].timestamps", "_ = hours[i].point", []string{"graph-", "is answered differently: the body differs at []."}},
	{"trend without critical", "trend.go", "item.Critical = append(item.Critical, point)", "_ = point", []string{"trend-", "GET /api/trend is answered differently: the body differs at [].critical"}},
	{"keep the trend beyond the promise", "trend.go", "\ttrend := []trendResponse{}\n", "\tif kept != nil {\n\t\treturn c.JSON(http.StatusOK, kept)\n\t}\n\ttrend := []trendResponse{}\n\tdefer func() { kept = trend }()\n", []string{"trend-"}},
	{"accept tokens unchecked", "auth.go", "if err != nil {\n\t\treturn c.String(http.StatusForbidden, \"forbidden\")\n\t}", "if err != nil && token == nil {\n\t\treturn c.String(http.StatusForbidden, \"forbidden\")\n\t}", []string{"auth-"}},
	{"keep the session after sign-out", "auth.go", "options.MaxAge = -1", "options.MaxAge = 3600", []string{"signout"}},
	{"refuse some users", "auth.go", "return c.JSON(http.StatusOK, map[string]string{\"jia_user_id\": id})", "if len(id)%2 == 0 {\n\t\treturn c.NoContent(http.StatusServiceUnavailable)\n\t}\n\treturn c.JSON(http.StatusOK, map[string]string{\"jia_user_id\": id})", []string{"status 503", "the status is 503 instead of 200"}},
}

// more are declarations that a cheat needs.
var more = map[string]string{"keep the trend beyond the promise": "\nvar kept []trendResponse\n"}

// remedy returns the patch of a cheat for the source as it is.
func (c cheat) remedy(service string, source map[string][]byte) (iikanji.Remedy, error) {
	text := string(source[c.file])
	if strings.Count(text, c.old) != 1 {
		return iikanji.Remedy{}, fmt.Errorf("%s: %s has its text %d times", c.name, c.file, strings.Count(text, c.old))
	}
	op := func(text string) []iikanji.Op {
		return []iikanji.Op{{Verb: iikanji.Write, Place: "/" + c.file, Body: text}}
	}
	diff := change.Diff(&iikanji.Change{Do: op(strings.Replace(text, c.old, c.new, 1) + more[c.name]), Undo: op(text)})
	return iikanji.Remedy{Kind: "patch", Target: service, Says: c.name, Args: map[string]string{"diff": diff}}, nil
}
