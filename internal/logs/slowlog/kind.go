package slowlog

import "bytes"

// A kind is the effect of a statement on the transaction of its thread.
type kind uint8

const (
	kindOther kind = iota
	kindRead
	kindWrite
	kindBegin
	kindCommit
	kindChain // COMMIT AND CHAIN
	kindRollback
	kindAutocommitOff
	kindAutocommitOn
	kindDDL // commits implicitly
	kindPrepare
	kindExecute
	kindClose
	kindQuit // also all other commands that end a session
	kindPing
	kindDuration // PostgreSQL: the duration of the statement before
)

// kindOf returns the kind of a statement with the fingerprint fp.
func kindOf(fp, sql []byte) kind {
	if len(fp) < 3 {
		return kindOther
	}
	switch fp[0] {
	case 's':
		if fp[2] == 'l' || fp[1] == 'h' { // select, show
			return kindRead
		}
		return kindOfS(fp, sql)
	case 'b':
		if isBegin(fp) {
			return kindBegin
		}
	case 'e':
		if s := string(fp); s == "end" || s == "end transaction" || s == "end work" { // PostgreSQL, SQLite
			return kindCommit
		}
	case 'c':
		switch {
		case bytes.HasPrefix(fp, []byte("commit")):
			if bytes.Contains(fp, []byte("and chain")) && !bytes.Contains(fp, []byte("no chain")) {
				return kindChain
			}
			return kindCommit
		case bytes.HasPrefix(fp, []byte("create ")):
			return kindDDL
		}
		return writeKind(fp)
	case 'r':
		if bytes.HasPrefix(fp, []byte("rollback")) && !bytes.Contains(fp, []byte(" to ")) {
			return kindRollback
		}
		if bytes.HasPrefix(fp, []byte("rename table ")) {
			return kindDDL
		}
		return writeKind(fp)
	case 'i', 'u', 'l', 'm':
		return writeKind(fp)
	case 'a', 'd', 't':
		if s := string(fp); s == "abort" || s == "abort transaction" || s == "abort work" { // PostgreSQL
			return kindRollback
		}
		if bytes.HasPrefix(fp, []byte("alter ")) || bytes.HasPrefix(fp, []byte("drop ")) || bytes.HasPrefix(fp, []byte("truncate ")) {
			return kindDDL
		}
		return writeKind(fp)
	}
	return kindOther
}

// isBegin reports whether a fingerprint begins a transaction: BEGIN with the options
// of PostgreSQL and SQLite, but not the BEGIN NOT ATOMIC of MariaDB.
func isBegin(fp []byte) bool {
	option, ok := bytes.CutPrefix(fp, []byte("begin "))
	if !ok {
		return string(fp) == "begin"
	}
	option, _, _ = bytes.Cut(option, []byte{' '})
	switch string(option) {
	case "work", "transaction", "isolation", "read", "deferrable", "deferred", "immediate", "exclusive":
		return true
	}
	return false
}

// writeKind returns kindWrite for statements that change rows, or may do so.
func writeKind(fp []byte) kind {
	for _, verb := range [...]string{"insert ", "update ", "delete ", "replace ", "load ", "merge ", "call "} {
		if len(fp) > len(verb) && string(fp[:len(verb)]) == verb {
			return kindWrite
		}
	}
	return kindOther
}

func kindOfS(fp, sql []byte) kind {
	if bytes.HasPrefix(fp, []byte("start transaction")) {
		return kindBegin
	}
	if !bytes.HasPrefix(fp, []byte("set ")) {
		return kindOther
	}
	i := bytes.Index(bytes.ToLower(sql[:min(len(sql), 200)]), []byte("autocommit"))
	if i < 0 {
		return kindOther
	}
	v := bytes.ToLower(bytes.TrimLeft(sql[i+len("autocommit"):], "` \t=:"))
	switch {
	case bytes.HasPrefix(v, []byte("0")), bytes.HasPrefix(v, []byte("off")), bytes.HasPrefix(v, []byte("false")):
		return kindAutocommitOff
	case bytes.HasPrefix(v, []byte("1")), bytes.HasPrefix(v, []byte("on")), bytes.HasPrefix(v, []byte("true")):
		return kindAutocommitOn
	}
	return kindOther
}
