package rewrite

// testFacts are the tables of the goldens.
var testFacts = Facts{Tables: map[string]Table{
	"t": {Unique: [][]string{{"id"}}, Columns: map[string]Column{"id": {Type: "bigint"}, "name": {Type: "varchar(255)"}, "level": {Type: "varchar(20)"}}},
	"book": {Unique: [][]string{{"id"}}, Columns: map[string]Column{"id": {Type: "bigint"}, "title": {Type: "varchar(255)"}, "rank": {Type: "int"},
		"cover": {Type: "mediumblob"}, "comment": {Type: "varchar(2000)", MeanBytes: 900}}},
	"shelf":        {Columns: map[string]Column{"id": {Type: "bigint"}, "plan": {Type: "text"}, "label": {Type: "varchar(20)"}}},
	"tag":          {Columns: map[string]Column{"id": {Type: "bigint"}, "name": {Type: "varchar(20)"}, "icon": {Type: "text", MeanBytes: 4000}}},
	"label":        {Columns: map[string]Column{"id": {Type: "bigint"}, "label": {Type: "text", MeanBytes: 12}}},
	"keyed":        {Columns: map[string]Column{"id": {Type: "bigint"}, "text": {Type: "text"}}},
	"raw":          {Columns: map[string]Column{"key": {Type: "varchar(20)"}, "image": {Type: "blob"}}},
	"users":        {Unique: [][]string{{"id"}, {"name"}}, Columns: map[string]Column{"id": {Type: "bigint(20)"}, "name": {Type: "varchar(50)"}, "team_id": {Type: "int(11) unsigned"}}},
	"comments":     {Unique: [][]string{{"id"}}, Columns: map[string]Column{"id": {Type: "bigint(20)"}, "post_id": {Type: "bigint(20)"}, "text": {Type: "text"}}},
	"id_generator": {Unique: [][]string{{"id"}, {"stub"}}, Columns: map[string]Column{"id": {Type: "bigint(20)"}, "stub": {Type: "char(1)"}}},
	"ticket":       {Unique: [][]string{{"n"}, {"k"}}, Columns: map[string]Column{"n": {Type: "bigint(20)"}, "k": {Type: "char(1)"}}},
	"wide":         {Columns: map[string]Column{"id": {Type: "int(11)"}, "n": {Type: "int(11)"}, "text": {Type: "varchar(12500)"}}},
	"score": {Unique: [][]string{{"id"}}, Columns: map[string]Column{"id": {Type: "varchar(255)"}, "player_id": {Type: "varchar(255)"}, "contest_id": {Type: "varchar(255)"},
		"points": {Type: "bigint"}, "row_num": {Type: "bigint"}, "created_at": {Type: "bigint"}}},
	"picture": {Columns: map[string]Column{"data": {Type: "longblob"}}},
}}

// shopFacts are the tables of the goldens of searches.
var shopFacts = Facts{Tables: map[string]Table{"shop": {Unique: [][]string{{"id"}}, Columns: map[string]Column{
	"id": {Type: "bigint(20)"}, "name": {Type: "varchar(64)"}, "lat": {Type: "double"}, "lon": {Type: "double"}, "rank_": {Type: "int(11)"}}}}}
