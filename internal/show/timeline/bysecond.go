package timeline

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
)

// SecondsFile is the name of the file of a run's seconds. Runs of a search have it
// instead of samples of every request, whose writing would cost score.
//
// Its first line is the format, its version and when the load began. The second line
// has the names of the columns; a line for each second follows. Columns after the
// latencies are the CPU use of services in cores. It is a raw file: see
// history.PackAfter.
const SecondsFile = "seconds.tsv"

const secondsFormat = "# iikanji-seconds 1 "

// secondsColumns are the columns before those of services.
var secondsColumns = []string{"answers", "errors", "p50_ms", "p95_ms", "p99_ms"}

// maxSecondsFile bounds what is read: three hours with 100 services.
const maxSecondsFile = 16 << 20

// A ServiceCPU is the CPU use of one service in cores, by second.
type ServiceCPU struct {
	Name  string
	Cores []float64
}

// SaveSeconds writes the seconds of a run, and the samples of its machine, which were
// taken each second of the load, with those of the site's other machines by name. A run
// without any has no file.
func SaveSeconds(h *history.History, id iikanji.RunID, s *bench.Seconds, samples []hoststat.Sample, far map[string][]hoststat.Sample) error {
	out := &Seconds{}
	if s != nil {
		out.From = s.From
		for _, x := range s.All {
			out.Answers, out.Errors = append(out.Answers, float64(x.Answers)), append(out.Errors, float64(x.Errors))
			out.P50, out.P95, out.P99 = append(out.P50, ms(x.P50)), append(out.P95, ms(x.P95)), append(out.P99, ms(x.P99))
		}
	}
	if out.From.IsZero() && len(samples) > 0 {
		out.From = samples[0].At.Add(-time.Second)
	}
	out.addCPU("", samples)
	for _, name := range slices.Sorted(maps.Keys(far)) {
		out.addCPU(name, far[name])
	}
	if out.Length() == 0 {
		return nil
	}
	return h.SaveFile(id, SecondsFile, out.tsv())
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// addCPU adds the CPU use of a machine's services. A sample is that of the second before it.
func (s *Seconds) addCPU(host string, samples []hoststat.Sample) {
	at := map[string]int{}
	add := func(name string, second int, cores float64) {
		name = iikanji.PlacedOn(name, host)
		i, ok := at[name]
		if !ok {
			i = len(s.CPU)
			at[name] = i
			s.CPU = append(s.CPU, ServiceCPU{Name: name})
		}
		v := &s.CPU[i]
		for len(v.Cores) <= second {
			v.Cores = append(v.Cores, 0)
		}
		v.Cores[second] = cores
	}
	for i := range samples {
		x := &samples[i]
		second := int(math.Round(x.At.Sub(s.From).Seconds())) - 1
		if second < 0 || second >= maxSeconds {
			continue
		}
		add(hoststat.Host, second, x.User+x.System)
		for _, v := range x.Services {
			if v.Name != hoststat.Other && !strings.HasPrefix(v.Name, hoststat.Other+"/") { // programs beside the site
				add(v.Name, second, v.User+v.System)
			}
		}
	}
}

// Length is the number of seconds.
func (s *Seconds) Length() int {
	n := len(s.Answers)
	for _, v := range s.CPU {
		n = max(n, len(v.Cores))
	}
	return n
}

// tsv is the content of the file.
func (s *Seconds) tsv() []byte {
	var b bytes.Buffer
	b.WriteString(secondsFormat + s.From.UTC().Format(time.RFC3339Nano) + "\nsecond\t" + strings.Join(secondsColumns, "\t"))
	for _, v := range s.CPU {
		b.WriteString("\tcpu " + strings.Map(func(r rune) rune {
			if r < ' ' {
				return '_'
			}
			return r
		}, v.Name))
	}
	series := [][]float64{s.Answers, s.Errors, s.P50, s.P95, s.P99}
	for _, v := range s.CPU {
		series = append(series, v.Cores)
	}
	for second := range s.Length() {
		b.WriteString("\n" + strconv.Itoa(second+1))
		for _, values := range series {
			b.WriteByte('\t')
			if second < len(values) { // three decimals: µs, and a thousandth of a core
				b.WriteString(strconv.FormatFloat(math.Round(values[second]*1e3)/1e3, 'f', -1, 64))
			}
		}
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// readSeconds reads the file of a run, packed or not.
func readSeconds(h *history.History, id iikanji.RunID) (*Seconds, error) {
	f, err := openRaw(h, id, SecondsFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSecondsFile))
	if err != nil {
		return nil, fmt.Errorf("reading the seconds of run %d: %w", id, err)
	}
	s, err := parseSeconds(text)
	if err != nil {
		return nil, fmt.Errorf("reading the seconds of run %d: %w", id, err)
	}
	return s, nil
}

var errNoSeconds = errors.New("the file is not one of seconds of version 1")

// parseSeconds reads the content of a file.
func parseSeconds(text []byte) (*Seconds, error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxSecondsFile)
	if !lines.Scan() {
		return nil, errNoSeconds
	}
	at, ok := strings.CutPrefix(lines.Text(), secondsFormat)
	if !ok || !lines.Scan() {
		return nil, errNoSeconds
	}
	from, err := time.Parse(time.RFC3339Nano, at)
	if err != nil || from.Year() < 1970 || from.Year() > 9000 {
		return nil, errNoSeconds
	}
	s := &Seconds{From: from}
	names := strings.Split(lines.Text(), "\t")
	first := 1 + len(secondsColumns)
	if len(names) < first || strings.Join(names[1:first], " ") != strings.Join(secondsColumns, " ") {
		return nil, errNoSeconds
	}
	for _, name := range names[first:] {
		s.CPU = append(s.CPU, ServiceCPU{Name: strings.TrimPrefix(name, "cpu ")})
	}
	series := []*[]float64{&s.Answers, &s.Errors, &s.P50, &s.P95, &s.P99}
	for i := range s.CPU {
		series = append(series, &s.CPU[i].Cores)
	}
	for n := 0; lines.Scan() && n < maxSeconds; n++ {
		cells := strings.Split(lines.Text(), "\t")
		for i, values := range series {
			if i+1 >= len(cells) || cells[i+1] == "" {
				continue
			}
			v, err := strconv.ParseFloat(cells[i+1], 64)
			if err != nil || !(v >= 0 && v < 1e12) {
				return nil, fmt.Errorf("second %d: %q is not a number from 0 to 1e12", n+1, cells[i+1])
			}
			for len(*values) < n {
				*values = append(*values, 0)
			}
			*values = append(*values, v)
		}
	}
	for _, values := range series[1:len(secondsColumns)] { // readers count on one value for each second with answers
		for len(*values) < len(s.Answers) {
			*values = append(*values, 0)
		}
	}
	return s, lines.Err()
}

// openRaw opens a raw file of a run, packed or not.
func openRaw(h *history.History, id iikanji.RunID, name string) (io.ReadCloser, error) {
	path := filepath.Join(h.Dir(), "runs", fmt.Sprintf("%04d", id), name)
	f, err := os.Open(path)
	if err == nil {
		return f, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	if f, err = os.Open(path + ".zst"); err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	return packed{z, f}, nil
}
