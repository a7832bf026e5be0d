package rewrite

import (
	"os"
	"reflect"
	"testing"
)

func TestSchema(t *testing.T) {
	f := Schema(`
-- CREATE TABLE no (id int);
CREATE TABLE IF NOT EXISTS `+"`Users`"+` (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(255) NOT NULL, picture LONGBLOB,
  UNIQUE KEY uniq_name (name), KEY k (picture(10)), UNIQUE KEY part (picture(10))
);
INSERT INTO Users VALUES (1, 'a;b', NULL);
CREATE UNIQUE INDEX pair ON users (name, id);
ALTER TABLE users ADD UNIQUE (id, name);
THIS IS NO SQL;
CREATE TABLE twice (id INT PRIMARY KEY, a INT)`, `CREATE TABLE twice (id INT PRIMARY KEY, a TEXT);`)
	want := map[string]Table{
		"users": {Unique: [][]string{{"id"}, {"name"}, {"name", "id"}, {"id", "name"}}, Columns: map[string]Column{
			"id": {Type: "bigint(20) unsigned", NotNull: true}, "name": {Type: "varchar(255)", NotNull: true}, "picture": {Type: "longblob"}}},
		"twice": {Unique: [][]string{{"id"}}, Columns: map[string]Column{"id": {Type: "int(11)", NotNull: true}}},
	}
	if !reflect.DeepEqual(f.Tables, want) {
		t.Errorf("got  %+v\nwant %+v", f.Tables, want)
	}
}

// TestSchemaArena reads the schema of a contest.
func TestSchemaArena(t *testing.T) {
	text, err := os.ReadFile("../../arenas/isucondition/files/sql/0_Schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	f := Schema(string(text))
	if len(f.Tables) != 4 || !f.unique("isu", []string{"jia_isu_uuid"}) || f.unique("isu_condition", []string{"jia_isu_uuid"}) || f.Tables["isu"].Columns["image"].Type != "longblob" {
		t.Errorf("%+v", f.Tables)
	}
}
