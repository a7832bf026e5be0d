package lever

import "testing"

// testFacts are the tables of the goldens.
var testFacts = Facts{Tables: map[string]Table{
	"t":       {Unique: [][]string{{"id"}}, Columns: map[string]Column{"id": {Type: "bigint"}, "name": {Type: "varchar(255)"}, "level": {Type: "varchar(20)"}}},
	"picture": {Columns: map[string]Column{"data": {Type: "longblob"}}},
}}

func TestApp201(t *testing.T) { golden(t, newApp201(testFacts), "app201", 13, 20) }
