package isuxi

import (
	"bufio"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A rowFile is a file of rows, with values that are separated by tabs, and how the database
// reads it.
type rowFile struct {
	name  string
	into  string // columns and variables, and what is computed of them
	write func(w *bufio.Writer)
}

// tables are all tables in the order in which they are loaded. Times are computed of the
// identifiers, and texts are numbers of variables: two gigabytes are a file of 70 MB so.
func (w *world) tables() []rowFile {
	return []rowFile{
		{"users", "(id, account_name, nick_name, email, passhash)", w.writeUsers},
		{"salts", "(user_id, salt)", w.writeSalts},
		{"profiles", "(user_id, first_name, last_name, sex, birthday, pref) SET updated_at = " + timeSQL(dataBegin), w.writeProfiles},
		{"relations", "(id, one, another, @pair) SET created_at = " + rowSQL("@pair"), w.writeRelations},
		{"footprints", "(@id, user_id, owner_id) SET id = @id, created_at = " + rowSQL("@id"), w.writeFootprints},
		{"entries", "(@id, user_id, private, @text) SET id = @id, body = " + textSQL("body", len(entryBodies)) + ", created_at = " + rowSQL("@id"), w.writeEntries},
		{"comments", "(@id, entry_id, user_id, @text) SET id = @id, comment = " + textSQL("comment", len(commentTexts)) +
			", created_at = FROM_UNIXTIME(" + strconv.FormatInt(dataBegin.Add(commentsBegin).Unix(), 10) + " + " +
			strconv.Itoa(int(commentDistance/time.Second)) + " * @id)", w.writeComments},
	}
}

func timeSQL(t time.Time) string { return fmt.Sprintf("FROM_UNIXTIME(%d)", t.Unix()) }

// rowSQL is rowTime for the database.
func rowSQL(id string) string {
	return fmt.Sprintf("FROM_UNIXTIME(%d + %d * %s)", dataBegin.Unix(), int(rowDistance/time.Second), id)
}

// textSQL chooses one of the variables of texts.
func textSQL(name string, n int) string {
	var b strings.Builder
	b.WriteString("ELT(@text")
	for i := range n {
		fmt.Fprintf(&b, ", @%s%d", name, i+1)
	}
	return b.String() + ")"
}

// writeSQL writes the statements that load the files of rows from the folder of the client.
func (w *world) writeSQL(out io.Writer) error {
	b := bufio.NewWriter(out)
	writeTexts(b, "body", entryBodies)
	writeTexts(b, "comment", commentTexts)
	for _, t := range w.tables() {
		fmt.Fprintf(b, "SELECT 'loading %s';\nLOAD DATA LOCAL INFILE '%s' INTO TABLE `%s` CHARACTER SET utf8mb4\n\t%s;\n", t.name, t.file(), t.name, t.into)
	}
	for _, last := range []struct {
		table string
		id    int
	}{{"relations", lastRelation}, {"footprints", lastFootprint}, {"entries", lastEntry}, {"comments", lastComment}} {
		fmt.Fprintf(b, "ALTER TABLE `%s` AUTO_INCREMENT = %d;\n", last.table, last.id+1)
	}
	return b.Flush()
}

// writeTexts sets variables.
func writeTexts(b *bufio.Writer, name string, texts []string) {
	quote := strings.NewReplacer("\\", "\\\\", "'", "\\'", "\n", "\\n")
	for i, t := range texts {
		fmt.Fprintf(b, "SET @%s%d = '%s';\n", name, i+1, quote.Replace(t))
	}
}

func (t *rowFile) file() string { return t.name + ".tsv" }

// writeRow writes numbers.
func writeRow(b *bufio.Writer, values ...int) {
	var row [80]byte
	line := row[:0]
	for i, v := range values {
		if i > 0 {
			line = append(line, '\t')
		}
		line = strconv.AppendInt(line, int64(v), 10)
	}
	b.Write(append(line, '\n')) // its error is that of Flush
}

func (w *world) writeUsers(b *bufio.Writer) {
	for i, p := range w.people {
		sum := sha512.Sum512([]byte(p.Account + p.salt)) // the password is the account's name
		fmt.Fprintf(b, "%d\t%s\t%s\t%s\t%s\n", i+1, p.Account, p.Nick, p.Email, hex.EncodeToString(sum[:]))
	}
}

func (w *world) writeSalts(b *bufio.Writer) {
	for i, p := range w.people {
		fmt.Fprintf(b, "%d\t%s\n", i+1, p.salt)
	}
}

func (w *world) writeProfiles(b *bufio.Writer) {
	for i, p := range w.people {
		fmt.Fprintf(b, "%d\t%s\t%s\t%s\t%s\t%s\n", i+1, p.First, p.Last, p.Sex, p.birthday.Format(time.DateOnly), p.Pref)
	}
}

// writeRelations writes both rows of a pair, with the identifier that their time is of.
func (w *world) writeRelations(b *bufio.Writer) {
	for i, p := range w.friends {
		if p.one != 0 {
			id := w.relationID(i)
			writeRow(b, id, int(p.one), int(p.another), id)
			writeRow(b, id+1, int(p.another), int(p.one), id)
		}
	}
}

func (w *world) writeFootprints(b *bufio.Writer) {
	for i, p := range w.footprints {
		writeRow(b, w.footprintID(i), int(p.one), int(p.another))
	}
}

func (w *world) writeEntries(b *bufio.Writer) {
	for i, e := range w.entries {
		writeRow(b, w.entryID(i), int(e.owner), bit(e.private), int(e.body)+1)
	}
}

func (w *world) writeComments(b *bufio.Writer) {
	for i, c := range w.comments {
		writeRow(b, w.commentID(i), int(c.entry), int(c.author), int(c.text)+1)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
