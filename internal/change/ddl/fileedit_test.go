package ddl

import (
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/lang/sqlschema"
	"github.com/iikanji/iikanji/internal/lang/sqltext"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestFileStyles: for each style of file, the edit is minimal, and a real server
// derives from it the definition after the ALTER: otherwise planning fails.
func TestFileStyles(t *testing.T) {
	tier.Slow(t)
	s := newLoadedSite(t)
	add := remedy("add index", "t", "columns", "b, c DESC", "name", "n")
	drop := remedy("drop index", "t", "name", "k")
	replace := remedy("add index", "t", "columns", "b, c DESC", "name", "n", "drop", "k")
	for _, c := range []struct {
		name     string
		r        iikanji.Remedy
		old, new string // new is the edited old; with a leading "!", a part of the error
	}{
		{"one line", add, "create table t (a int primary key, b int, c int);", "create table t (a int primary key, b int, c int, KEY `n` (`b`,`c` DESC));"},
		{"no end", add, "create table t(a int primary key,b int,c int)", "create table t(a int primary key,b int,c int, KEY `n` (`b`,`c` DESC))"},
		{"lines, tabs", add, "CREATE TABLE IF NOT EXISTS `t` (\r\n\ta INT,\r\n\tb INT,\r\n\tc INT\r\n);\r\nSELECT 1;", "CREATE TABLE IF NOT EXISTS `t` (\r\n\ta INT,\r\n\tb INT,\r\n\tc INT,\r\n\tKEY `n` (`b`,`c` DESC)\r\n);\r\nSELECT 1;"},
		{"qualified", add, "USE elsewhere;\nCREATE TABLE site . `t` (a int, b int, c int);", "USE elsewhere;\nCREATE TABLE site . `t` (a int, b int, c int, KEY `n` (`b`,`c` DESC));"},
		{"use", add, "use site\ncreate table t (a int, b int, c int);use other;create table t (x int);", "use site\ncreate table t (a int, b int, c int, KEY `n` (`b`,`c` DESC));use other;create table t (x int);"},
		{"comments", add, "create table t ( -- (\n  a int, /* , */ b int comment ',) KEY x (a)',\n  c int -- the last, )\n  # (\n) -- end\n;", "create table t ( -- (\n  a int, /* , */ b int comment ',) KEY x (a)',\n  c int, -- the last, )\n  # (\n  KEY `n` (`b`,`c` DESC)\n) -- end\n;"},
		{"dump", add, "/*M!999999\\- enable the sandbox mode */ \n/*!40101 SET @saved_cs_client = @@character_set_client */;\n/*!40101 SET character_set_client = utf8mb4 */;\nCREATE TABLE `t` (\n  `a` int(11) DEFAULT NULL,\n  `b` int(11) DEFAULT NULL,\n  `c` int(11) DEFAULT NULL\n) ENGINE=InnoDB DEFAULT CHARSET=latin1;\n/*!40101 SET character_set_client = @saved_cs_client */;\nLOCK TABLES `t` WRITE;\n/*!40000 ALTER TABLE `t` DISABLE KEYS */;\nINSERT INTO `t` VALUES (1,2,3);\n/*!40000 ALTER TABLE `t` ENABLE KEYS */;\nUNLOCK TABLES;\n",
			"/*M!999999\\- enable the sandbox mode */ \n/*!40101 SET @saved_cs_client = @@character_set_client */;\n/*!40101 SET character_set_client = utf8mb4 */;\nCREATE TABLE `t` (\n  `a` int(11) DEFAULT NULL,\n  `b` int(11) DEFAULT NULL,\n  `c` int(11) DEFAULT NULL,\n  KEY `n` (`b`,`c` DESC)\n) ENGINE=InnoDB DEFAULT CHARSET=latin1;\n/*!40101 SET character_set_client = @saved_cs_client */;\nLOCK TABLES `t` WRITE;\n/*!40000 ALTER TABLE `t` DISABLE KEYS */;\nINSERT INTO `t` VALUES (1,2,3);\n/*!40000 ALTER TABLE `t` ENABLE KEYS */;\nUNLOCK TABLES;\n"},
		{"like", add, "create table u (a int, b int, c int); create table t like u; insert into t values (1,2,3);", "create table u (a int, b int, c int); create table t like u;\nALTER TABLE t ADD KEY `n` (`b`,`c` DESC); insert into t values (1,2,3);"},
		{"select", add, "create table u (a int, b int, c int); create table t (primary key (a)) select * from u;", "create table u (a int, b int, c int); create table t (primary key (a), KEY `n` (`b`,`c` DESC)) select * from u;"},
		{"as select", add, "create table u (a int, b int, c int); create table t as select * from u", "create table u (a int, b int, c int); create table t as select * from u;\nALTER TABLE t ADD KEY `n` (`b`,`c` DESC);"},
		{"index behind", add, "create table t (a int, b int, c int);\ncreate index k on t (b);\n", "create table t (a int, b int, c int);\ncreate index k on t (b);\nALTER TABLE t ADD KEY `n` (`b`,`c` DESC);\n"},
		{"keys of an alter", add, "create table t (a int, b int, c int);\nalter table `t` add primary key (a), add key k (b);\nalter table t modify a int auto_increment;\ninsert into t values (1,2,3);", "create table t (a int, b int, c int);\nalter table `t` add primary key (a), add key k (b);\nalter table t modify a int auto_increment;\nALTER TABLE t ADD KEY `n` (`b`,`c` DESC);\ninsert into t values (1,2,3);"},
		{"delimiter", add, "delimiter //\ncreate table t (a int, b int, c int)//\ncreate index k on t (b)//\n", "delimiter //\ncreate table t (a int, b int, c int)//\ncreate index k on t (b)//\nALTER TABLE t ADD KEY `n` (`b`,`c` DESC)//\n"},
		{"foreign key", add, "create table u (i int primary key); create table t (a int, b int, c int, constraint f foreign key (a) references u (i) on delete cascade, check (b > 0));", "create table u (i int primary key); create table t (a int, b int, c int, constraint f foreign key (a) references u (i) on delete cascade, check (b > 0), KEY `n` (`b`,`c` DESC));"},
		{"foreign key's own", add, "create table u (i int primary key); create table t (a int, b int, c int, constraint f foreign key (b) references u (i));", "create table u (i int primary key); create table t (a int, b int, c int, constraint f foreign key (b) references u (i), KEY `f` (`b`), KEY `n` (`b`,`c` DESC));"},
		{"partitions", add, "create table t (a int, b int, c int) /*!50100 partition by hash (a) partitions 2 */;", "create table t (a int, b int, c int, KEY `n` (`b`,`c` DESC)) /*!50100 partition by hash (a) partitions 2 */;"},
		{"in a mode", add, "set @old = @@sql_mode, sql_mode = 'ansi_quotes';\ncreate table \"t\" (a int, b int, \"c\" int);\nset sql_mode = @old;", "set @old = @@sql_mode, sql_mode = 'ansi_quotes';\ncreate table \"t\" (a int, b int, \"c\" int, KEY `n` (`b`,`c` DESC));\nset sql_mode = @old;"},

		{"drop line", drop, "create table t (\n  a int,\n  KEY `k` (b), -- for b\n  b int,\n  INDEX K2 (b)\n);", "create table t (\n  a int,\n  -- for b\n  b int,\n  INDEX K2 (b)\n);"},
		{"drop whole line", drop, "create table t (\n  a int,\n  key K using btree (b),\n  b int\n);", "create table t (\n  a int,\n  b int\n);"},
		{"drop last", drop, "create table t (\n  a int, b int,\n  key k (b)\n);", "create table t (\n  a int, b int\n);"},
		{"drop last behind a comment", drop, "create table t (\n  a int, b int, -- b\n  key k (b)\n);", "create table t (\n  a int, b int -- b\n);"},
		{"drop inside", drop, "create table t (a int, key k (b), b int);", "create table t (a int, b int);"},
		{"drop unnamed", remedy("drop index", "t", "name", "b_2"), "create table t (a int, b int, key (b, a), key (b));", "create table t (a int, b int, key (b, a), key (b));\nALTER TABLE t DROP INDEX `b_2`;"},
		{"drop unnamed first", remedy("drop index", "t", "name", "b"), "create table t (a int, b int, key (b));", "create table t (a int, b int);"},
		{"drop of an alter", drop, "create table t (a int, b int);\nalter table t\n  add primary key (a),\n  add key k (b);\n", "create table t (a int, b int);\nalter table t\n  add primary key (a);\n"},
		{"drop of an alter alone", drop, "create table t (a int, b int);\nalter table t add index k (b);\nselect 1;\n", "create table t (a int, b int);\nselect 1;\n"},
		{"drop created", drop, "create table t (a int, b int); create index k on t (b); select 1;\n", "create table t (a int, b int);  select 1;\n"},
		{"drop redundant unique", remedy("drop index", "t", "name", "k"), "create table t (a int primary key, b int, unique key k (b, a));", "create table t (a int primary key, b int);"},
		{"replace last", replace, "create table t (\n  a int, b int, c int,\n  key k (b) comment 'x' -- y\n);", "create table t (\n  a int, b int, c int,\n  KEY `n` (`b`,`c` DESC) -- y\n);"},
		{"replace", replace, "create table t (\n  a int,\n  key k (b),\n  b int, c int\n);", "create table t (\n  a int,\n  b int, c int,\n  KEY `n` (`b`,`c` DESC)\n);"},
		{"replace created", replace, "create table t (a int, b int, c int);\ncreate index k on t (b);\n", "create table t (a int, b int, c int, KEY `n` (`b`,`c` DESC));\n"},

		{"stays within", add, "create table t (a int, b int, c int);alter table t rename to isu_2; create table t (a int, b int, c int);alter table t rename column a to z, rename to x;alter table x rename to t;", "!RENAME"},
		{"no other server", add, "create table t (a int, b int, c int) connection='mysql://x/y';", "!CONNECTION"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.write(t, "0_Schema.sql", c.old)
			s.write(t, "1_Data.sql", "")
			for _, drop := range []string{"t", "u", "isu_2"} {
				if _, err := s.db.Exec("DROP TABLE IF EXISTS " + drop); err != nil {
					t.Fatal(err)
				}
			}
			s.runFile(t)
			site := s.open(s.dir)
			ch, err := change.Plan(t.Context(), site, change.IntoSchemaFile(c.r))
			if want, refused := strings.CutPrefix(c.new, "!"); refused {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if ch.Do[0].Body != c.new {
				t.Errorf("the file becomes\n%s\nwant\n%s", ch.Do[0].Body, c.new)
			}
			s.ran(t, site, ch)
		})
	}
	var left int
	if err := s.db.QueryRow("SELECT count(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?", scratchSchema).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d scratch databases are left, %v", left, err)
	}
}

// runFile loads the schema file into the site, which also has other databases.
func (s *loadedSite) runFile(t *testing.T) {
	t.Helper()
	if _, err := s.db.Exec("CREATE DATABASE IF NOT EXISTS other"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("CREATE DATABASE IF NOT EXISTS elsewhere"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("DROP TABLE IF EXISTS other.t"); err != nil {
		t.Fatal(err)
	}
	s.initialize(t)
}

// ran performs the change and runs initialize with the edited file: both give
// the same table, and the undo restores the old state.
func (s *loadedSite) ran(t *testing.T, site *change.Site, ch *iikanji.Change) {
	t.Helper()
	holds := func(op iikanji.Op, when string) {
		t.Helper()
		if now, err := site.State(t.Context(), op); err != nil || now != op.Expect {
			content, _ := site.Content(t.Context(), op)
			t.Errorf("%s: %v\n%s", when, err, content)
		}
	}
	for _, op := range ch.Do {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	after := ch.Undo[0]
	holds(after, "the table altered")
	if _, err := s.db.Exec("DROP TABLE t"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("DROP TABLE IF EXISTS u"); err != nil {
		t.Fatal(err)
	}
	s.runFile(t)
	holds(after, "the table as the file makes it")
	for _, op := range ch.Undo {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	for _, op := range ch.Do {
		holds(op, "undone")
	}
}

// TestKeptUnique: a unique index may be dropped only if another one enforces its
// rule.
func TestKeptUnique(t *testing.T) {
	d, ok := parseDefinition("CREATE TABLE `t` (\n  `a` int,\n  `b` varchar(9),\n  `c` int NOT NULL,\n  PRIMARY KEY (`c`,`b`),\n" +
		"  UNIQUE KEY `abc` (`a`,`b` DESC,`c`) COMMENT '(`x`)',\n  UNIQUE KEY `a` (`A`),\n  UNIQUE KEY `b5` (`b`(5)),\n  UNIQUE KEY `b3` (`b`(3)),\n  UNIQUE KEY `ca` (`c`,`a`),\n  UNIQUE KEY `cb3` (`c`,`b`(3))\n) ENGINE=InnoDB")
	if !ok {
		t.Fatal("not read")
	}
	for name, want := range map[string]bool{"abc": true, "a": false, "b5": true, "b3": false, "ca": true, "cb3": true} {
		if k, _ := d.key(name); d.keptUnique(k) != want {
			t.Errorf("%s: kept %v", name, !want)
		}
	}
}

// FuzzStatements: tokens of any text lie inside it, in order, and an edit that
// only inserts keeps all other bytes.
func FuzzStatements(f *testing.F) {
	f.Add(loadSchema)
	f.Add("delimiter //\ncreate table t (a int, key k (a))// /*!50000 alter table t drop key k */// use x\n\\! ls\n'")
	f.Add("create table t (like u); create index i on t (a); /*M!100100 x*/ /*!999999 */ -- \n--x `a``b` \"q\\\"\" *//*")
	f.Add("alter table t add key (a), drop key b;\n\u00a0")
	f.Fuzz(func(t *testing.T, sql string) {
		all := sqltext.MySQL.Statements(sql)
		at := 0
		for _, s := range all {
			if s.File != sql || s.Start < at || s.End > s.Next || s.Next > len(sql) || len(s.Tokens) == 0 {
				t.Fatalf("a statement from %d to %d (%d), behind %d of %d", s.Start, s.End, s.Next, at, len(sql))
			}
			for _, x := range s.Tokens {
				if x.Start < at || x.End <= x.Start || x.Text != sql[x.Start:x.End] {
					t.Fatalf("token %+v at %d", x, at)
				}
				at = x.End
			}
			at = s.Next
		}
		for _, s := range all {
			d, ok := sqlschema.Of(s)
			if !ok {
				continue
			}
			strays(d)
			defs := table{dialect: sqltext.MySQL, schema: "x", name: d.Table}.definitions(all)
			if len(defs) == 0 {
				continue
			}
			for _, a := range []alter{{add: key{"KEY", "n", "(`a`)"}}, {drop: "k"}, {add: key{"KEY", "n", "(`a`)"}, drop: "k"}} {
				for _, edited := range edits(sql, defs, a) {
					if a.drop == "" && !subsequence(sql, edited) {
						t.Fatalf("the edit lost bytes:\n%q\n%q", sql, edited)
					}
					if a.add.name == "" && !strings.Contains(edited, "DROP INDEX") && !subsequence(edited, sql) {
						t.Fatalf("the edit put bytes in:\n%q\n%q", sql, edited)
					}
				}
			}
		}
	})
}

// subsequence reports whether all bytes of a occur in b, in the same order.
func subsequence(a, b string) bool {
	left := []byte(a)
	for _, c := range []byte(b) {
		if len(left) > 0 && left[0] == c {
			left = left[1:]
		}
	}
	return len(left) == 0
}

// TestSets: only statements that set harmless variables of a session are executed.
func TestSets(t *testing.T) {
	for sql, want := range map[string]bool{
		"SET NAMES utf8mb4": true, "set sql_mode = 'x', @a = @@global.b, session foreign_key_checks=0": true, "/*!40101 SET @x=@@y */": true, "SET @@session.sql_mode=''": true,
		"SET GLOBAL sql_mode = ''": false, "SET @@global.sql_mode=''": false, "set @a = (select 1)": false, "SET PASSWORD = 'x'": false, "set max_connections = 1": false,
		"SET STATEMENT sql_mode='' FOR DROP TABLE x": false, "SET sql_mode='', GLOBAL x = 1": false, "SET @a := sleep(9)": false, "INSERT INTO x SET a = 1": false, "SET ROLE x": false,
	} {
		if got := sets(sqltext.MySQL.Statements(sql)[0]); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
	if slices.Contains(harmless, "global") {
		t.Error("global is not a variable")
	}
}
