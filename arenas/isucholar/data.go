package isucholar

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/parallel"
)

const (
	// dataVersion must change whenever the generator's output changes.
	dataVersion = "1"
	dataSeed    = 2021

	initSQL     = "sql/2_init.sql"
	datasetFile = "benchmarker.json"

	// knownPassword is the password of T00000, S00000 and the sample for people.
	knownPassword = "isucon"

	initialTeachers = 50
	initialCourses  = slots // one for each slot of the week
	courseTeachers  = 10    // teachers of the initial courses: T00001 and the following
)

// dataBegin is the time of the first identifier.
var dataBegin = time.Date(2021, 10, 1, 0, 0, 0, 0, time.UTC)

// A dataSize is the number of students; all other initial data is small.
type dataSize struct{ Students int }

var (
	contestSize = dataSize{Students: 5000}
	// smallSize is that of tests.
	smallSize = dataSize{Students: 400}
)

// generatedVersion returns the version of what Generate writes.
func generatedVersion() string { return contestSize.version() }

// version differs for data of other sizes and for other pages.
func (s dataSize) version() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %v", dataVersion, s)
	for _, f := range staticFiles() {
		sum.Write(f.body)
	}
	return dataVersion + "-" + hex.EncodeToString(sum.Sum(nil)[:6])
}

// Generate writes the initial data of the contest and the static files into webapp, and
// the benchmarker's copy of the data into data. With an empty webapp it writes only the
// copy. The output is the same every time.
func Generate(ctx context.Context, webapp, data string) error {
	return contestSize.generate(ctx, webapp, data)
}

func (s dataSize) generate(ctx context.Context, webapp, data string) error {
	d := s.draw()
	if webapp != "" {
		hashes, err := d.hashes(ctx)
		if err != nil {
			return fmt.Errorf("generating the initial data: %w", err)
		}
		err = files.Write(filepath.Join(webapp, filepath.FromSlash(initSQL)), func(w io.Writer) error {
			return d.writeSQL(w,
				hashes)
		})
		if err != nil {
			return err
		}
		for _, f := range staticFiles() {
			if err := files.WriteBytes(filepath.Join(webapp, publicFolder, filepath.FromSlash(f.path)), f.body); err != nil {
				return err
			}
		}
	}
	return files.Write(filepath.Join(data, datasetFile), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(d)
	})
}

// draw makes the initial data.
func (s dataSize) draw() *Dataset {
	d := new(Dataset)
	at := dataBegin
	r := rand.New(rand.NewPCG(dataSeed, 1))
	draw := func(letter string, n int) (users []User) {
		for i := range n {
			at = at.Add(time.Duration(1+r.IntN(60)) * time.Second)
			u := User{ID: drawULID(r, at), Code: fmt.Sprintf("%s%05d", letter, i), Name: personName(r),
				Password: drawPassword(r)}
			if i == 0 {
				u.Password = knownPassword
			}
			users = append(users, u)
		}
		return users
	}
	d.Teachers, d.Students = draw("T", initialTeachers), draw("S", s.Students)
	r = rand.New(rand.NewPCG(dataSeed, 2)) // the courses are the same for each number of students
	for i := range initialCourses {
		c := drawCourse(r)
		c.ID = drawULID(r, dataBegin.Add(time.Duration(i)*time.Hour))
		c.Code, c.Status = fmt.Sprintf("A%04d", i+1), statusClosed
		c.setSlot(i)
		c.Teacher = d.Teachers[1+i%courseTeachers].Name
		d.Courses = append(d.Courses, c)
	}
	d.Courses = append(d.Courses, sampleCourses...)
	return d
}

// sampleCourses are those of files/sql/3_sample.sql.
var sampleCourses = []Course{
	sampleCourse("01FGWKRE7YPFBYEB31FQGERSQA", 1, "monday", statusInProgress),
	sampleCourse("01FGWKT3J0886Q6Z7BF1DR6Y02", 2, "tuesday", statusInProgress),
	sampleCourse("01FGWKTBCGNBGFSH1QX3SABR1Q", 3, "wednesday", statusRegistration),
}

func sampleCourse(id string, number int, day, status string) Course {
	return Course{ID: id, Code: fmt.Sprintf("X%04d", number), Type: typeMajor, Name: fmt.Sprintf("速さの実習 %d", number),
		Description: "遅いものを測り、速くします。", Credit: 1, Period: 1, DayOfWeek: day, Teacher: "清水 光",
		Status: status, Keywords: "ISUCON SpeedUP"}
}

// hashWorkers hash passwords at once.
const hashWorkers = 2

// hashes returns the hashes of the passwords of all teachers and students.
func (d *Dataset) hashes(ctx context.Context) ([]string, error) {
	users := append(d.Teachers[:len(d.Teachers):len(d.Teachers)], d.Students...)
	hashes := make([]string, len(users))
	err := parallel.Do(ctx, hashWorkers, func(ctx context.Context, worker int) error {
		for i := worker; i < len(users); i += hashWorkers {
			if err := ctx.Err(); err != nil {
				return err
			}
			r := rand.New(rand.NewPCG(dataSeed, uint64(1000+i)))
			var salt [16]byte
			for n := range salt {
				salt[n] = byte(r.Uint32())
			}
			var err error
			if hashes[i], err = bcryptHash(users[i].Password, salt); err != nil {
				return err
			}
		}
		return nil
	})
	return hashes, err
}

// usersEach is the number of rows of an INSERT of users.
const usersEach = 500

// writeSQL writes the initial users and courses.
func (d *Dataset) writeSQL(w io.Writer, hashes []string) error {
	users := append(d.Teachers[:len(d.Teachers):len(d.Teachers)], d.Students...)
	teachers := map[string]string{} // identifiers by name
	for _, t := range d.Teachers[1 : 1+courseTeachers] {
		teachers[t.Name] = t.ID
	}
	var b strings.Builder
	b.WriteString("-- Teachers, students, and the courses that are closed.\n")
	for i, u := range users {
		kind := "student"
		if i < len(d.Teachers) {
			kind = "teacher"
		}
		separator := ",\n"
		if i%usersEach == 0 {
			if separator = "INSERT INTO `users` (`id`, `code`, `name`, `hashed_password`, `type`) VALUES\n"; i > 0 {
				separator = ";\n" + separator
			}
		}
		fmt.Fprintf(&b, "%s('%s', '%s', '%s', '%s', '%s')", separator, u.ID, u.Code, u.Name, hashes[i], kind)
	}
	b.WriteString(";\nINSERT INTO `courses` (`id`, `code`, `type`, `name`, `description`, `credit`, `period`, `day_of_week`, `teacher_id`, `keywords`, `status`) VALUES\n")
	for i, c := range d.Courses[:initialCourses] {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "('%s', '%s', '%s', '%s', '%s', %d, %d, '%s', '%s', '%s', '%s')", c.ID, c.Code, c.Type, c.Name,
			c.Description,
			c.Credit, c.Period, c.DayOfWeek, teachers[c.Teacher], c.Keywords, c.Status)
	}
	b.WriteString(";\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// readDataset reads the benchmarker's copy from the folder that Generate wrote.
func readDataset(folder string) (*Dataset, error) {
	text, err := os.ReadFile(filepath.Join(folder, datasetFile))
	if err != nil {
		return nil, fmt.Errorf("reading the initial data: %w", err)
	}
	return parseDataset(text)
}

// parseDataset reads the text of the file.
func parseDataset(text []byte) (*Dataset, error) {
	d := new(Dataset)
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("reading the initial data: %w", err)
	}
	if len(d.Teachers) != initialTeachers || len(d.Students) < 100 || len(d.Courses) != initialCourses+len(sampleCourses) {
		return nil, fmt.Errorf("reading the initial data: %d teachers, %d students, %d courses", len(d.Teachers),
			len(d.Students), len(d.Courses))
	}
	return d, nil
}
