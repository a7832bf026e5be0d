package slowlog

import "testing"

// TestKinds: the effect of statements on the transaction of their thread.
func TestKinds(t *testing.T) {
	var fp Fingerprinter
	for sql, want := range map[string]kind{
		"BEGIN": kindBegin, "begin work": kindBegin, "BEGIN ISOLATION LEVEL SERIALIZABLE": kindBegin, "begin immediate": kindBegin, "START TRANSACTION READ ONLY": kindBegin, "begin not atomic select 1; end": kindOther,
		"commit": kindCommit, "COMMIT AND CHAIN": kindChain, "commit and no chain": kindCommit, "end": kindCommit, "END TRANSACTION": kindCommit, "/* a */ commit": kindCommit, "endless": kindOther,
		"rollback": kindRollback, "ROLLBACK TO SAVEPOINT a": kindOther, "abort": kindRollback, "rename table a to b": kindDDL, "replace into t values (1)": kindWrite,
		"insert into t values (1)": kindWrite, "update t set a=1": kindWrite, "delete from t": kindWrite, "call p()": kindWrite, "load data infile 'x' into table t": kindWrite,
		"drop table t": kindDDL, "alter table t add a int": kindDDL, "create table t (a int)": kindDDL, "truncate t": kindDDL, "select 1": kindRead, "show tables": kindRead,
		"set autocommit=0": kindAutocommitOff, "SET @@session.autocommit = ON": kindAutocommitOn, "set names utf8": kindOther, "": kindOther, "x": kindOther, "di": kindOther,
	} {
		if got := kindOf(fp.Fingerprint([]byte(sql)), []byte(sql)); got != want {
			t.Errorf("%q: kind %d, want %d", sql, got, want)
		}
	}
}
