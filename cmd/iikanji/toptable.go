package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// A topCell is a number; odd marks it.
type topCell struct {
	text string
	odd  bool
}

// A topColumn is a column of numbers below a name.
type topColumn struct {
	name  string
	width int
	cell  func(s *hoststat.Sample) topCell
}

// A topGroup is a group of columns that are shown together or not at all.
type topGroup struct {
	label   string // above the names
	columns []topColumn
}

func (g *topGroup) width() int {
	w := len(g.columns) - 1
	for _, c := range g.columns {
		w += c.width
	}
	return w
}

// A topTable draws one line per sample. It draws the head again when the head has
// scrolled off the screen or has changed.
type topTable struct {
	color bool
	head  string
	since int // lines below the head
}

// gap is the space between groups.
const gap = 2

// lines draws a sample for a screen of cols columns and rows lines.
func (t *topTable) lines(s *hoststat.Sample, cols, rows int) string {
	groups, rest := topLayout(s, cols)
	head, drawn := topDraw(groups, rest, s, t.color).Draw(0)
	if t.since++; head == t.head && t.since <= rows-2 {
		return drawn[0]
	}
	t.head, t.since = head, 1
	return head + drawn[0]
}

// topDraw makes the table of one sample. rest is the width of the list of services,
// 0 for none.
func topDraw(groups []topGroup, rest int, s *hoststat.Sample, color bool) *report.Table {
	var cells []topCell
	t := &report.Table{Color: color}
	for _, g := range groups {
		for i, c := range g.columns {
			column := report.Column{Name: c.name, Tight: i > 0, Width: c.width}
			if i == 0 {
				column.Label = g.label
			}
			t.Columns, cells = append(t.Columns, column), append(cells, c.cell(s))
		}
	}
	if rest > 0 {
		t.Columns = append(t.Columns, report.Column{Name: report.Shorten("% of a core", rest), Left: true, Width: rest})
		cells = append(cells, topCell{text: report.Shorten(busiest(s), rest)})
	}
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = c.text
	}
	t.Rows, t.Odd = [][]string{row}, func(_, i int) bool { return cells[i].odd }
	return t
}

// topLayout chooses the groups that fit. If the services do not fit as columns, rest
// is the width at the end of the line for a list of the busiest ones.
func topLayout(s *hoststat.Sample, cols int) (groups []topGroup, rest int) {
	first := []topGroup{timeGroup(), cpuGroup()}
	left := cols
	for i := range first {
		left -= first[i].width() + gap
	}
	left += gap // there is no gap before the first group
	services := serviceGroup(s, "% of a core", coreWidth(s), coreCell)
	listed := len(services.columns) == 0 || services.width()+gap > left
	if !listed {
		left -= services.width() + gap
		first = append(first, services)
	} else if cols >= 80 { // a narrower screen has room for the list only
		left -= minListWidth
	}
	for _, g := range furtherGroups(s, !listed) {
		if w := g.width() + gap; len(g.columns) > 0 && w <= left && !(listed && cols < 80) {
			left -= w
			first = append(first, g)
		}
	}
	if !listed {
		return first, 0
	}
	if cols >= 80 {
		left += minListWidth
	}
	return first, max(left-gap, 1)
}

// minListWidth is the least width of a list of services.
const minListWidth = 26

func timeGroup() topGroup {
	return topGroup{columns: []topColumn{{"time", 8, func(s *hoststat.Sample) topCell { return topCell{text: s.At.Format("15:04:05")} }}}}
}

// percent returns a column of a share of 1, in percent. Values from odd on are
// marked; 0 marks none.
func percent(name string, width int, odd float64, of func(s *hoststat.Sample) float64) topColumn {
	return topColumn{name, width, func(s *hoststat.Sample) topCell {
		v := of(s)
		return topCell{fmt.Sprintf("%.0f", 100*v), odd > 0 && v >= odd}
	}}
}

func cpuGroup() topGroup {
	of := func(f func(s *hoststat.Sample) float64) func(s *hoststat.Sample) float64 {
		return func(s *hoststat.Sample) float64 { return f(s) / float64(max(s.Cores, 1)) }
	}
	return topGroup{"cpu % of all", []topColumn{
		percent("usr", 3, 0, of(func(s *hoststat.Sample) float64 { return s.User })),
		percent("sys", 3, 0, of(func(s *hoststat.Sample) float64 { return s.System })),
		percent("wai", 3, 0.10, of(func(s *hoststat.Sample) float64 { return s.IOWait })),
		percent("stl", 3, observe.StealLimit, of(func(s *hoststat.Sample) float64 { return s.Steal })),
	}}
}

// coreWidth is the width of the largest CPU share: all cores, in percent of one core.
func coreWidth(s *hoststat.Sample) int { return len(strconv.Itoa(100 * max(s.Cores, 1))) }

func coreCell(v *hoststat.ServiceSample) topCell {
	return topCell{text: fmt.Sprintf("%.0f", 100*(v.User+v.System))}
}

// serviceGroup returns a group with a column for each service.
func serviceGroup(s *hoststat.Sample, label string, least int, cell func(v *hoststat.ServiceSample) topCell) topGroup {
	g := topGroup{label: label}
	for i := range s.Services {
		name := report.Clean(s.Services[i].Name)
		if name == hoststat.Other {
			continue
		}
		g.columns = append(g.columns, topColumn{name, max(report.Width(name), least), func(s *hoststat.Sample) topCell {
			if i >= len(s.Services) || s.Services[i].Processes == 0 {
				return topCell{text: "-"}
			}
			return cell(&s.Services[i])
		}})
	}
	return g
}

// crowded is the share of the descriptor limit from which the number is marked.
const crowded = 0.8

// furtherGroups returns the groups besides time, CPU and services, the most
// important first.
func furtherGroups(s *hoststat.Sample, byService bool) []topGroup {
	groups := []topGroup{waitGroup(), sizeGroup()}
	if byService {
		groups = append(groups, otherGroup(s))
	}
	groups = append(groups, diskGroups()...)
	groups = append(groups, rateGroup("net", "in", func(s *hoststat.Sample) float64 { return s.NetIn }, "out", func(s *hoststat.Sample) float64 { return s.NetOut }),
		topGroup{"context", []topColumn{rate("switches", 8, false, func(s *hoststat.Sample) float64 { return s.Switches })}},
		topGroup{"tcp /s", []topColumn{
			rate("drops", 5, true, func(s *hoststat.Sample) float64 { return s.ListenDrops }),
			rate("resent", 6, true, func(s *hoststat.Sample) float64 { return s.Retransmits })}},
		memoryGroup())
	if byService {
		groups = append(groups, serviceGroup(s, "descriptors", 4, func(v *hoststat.ServiceSample) topCell {
			return topCell{strconv.Itoa(v.FDs), v.FDLimit > 0 && float64(v.FDs) >= crowded*float64(v.FDLimit)}
		}), serviceGroup(s, "sockets", 4, func(v *hoststat.ServiceSample) topCell { return topCell{text: strconv.Itoa(v.Sockets)} }))
	}
	return groups
}

func waitGroup() topGroup {
	run := topColumn{"run", 3, func(s *hoststat.Sample) topCell {
		return topCell{strconv.FormatInt(s.Runnable, 10), s.Runnable > int64(4*max(s.Cores, 1))}
	}}
	return topGroup{"    stall %", []topColumn{run,
		percent("cpu", 3, 0, func(s *hoststat.Sample) float64 { return s.PressureCPU }),
		percent("io", 3, 0.2, func(s *hoststat.Sample) float64 { return s.PressureIO })}}
}

func sizeGroup() topGroup {
	free := topColumn{"free", 4, func(s *hoststat.Sample) topCell {
		return topCell{report.Size(s.MemAvailable), s.MemTotal > 0 && float64(s.MemAvailable) < 0.05*float64(s.MemTotal)}
	}}
	return topGroup{"mem  disk", []topColumn{free, rate("r+w", 4, false, func(s *hoststat.Sample) float64 { return s.DiskIn + s.DiskOut })}}
}

// rate returns a column of events or bytes per second. never marks every value
// above 0.
func rate(name string, width int, never bool, of func(s *hoststat.Sample) float64) topColumn {
	return topColumn{name, width, func(s *hoststat.Sample) topCell {
		v := of(s)
		return topCell{report.Short(v), never && v > 0}
	}}
}

func rateGroup(label, a string, ofA func(s *hoststat.Sample) float64, b string, ofB func(s *hoststat.Sample) float64) topGroup {
	return topGroup{label, []topColumn{rate(a, 4, false, ofA), rate(b, 4, false, ofB)}}
}

// otherGroup returns the CPU column of all processes that belong to no service.
func otherGroup(s *hoststat.Sample) topGroup {
	return topGroup{columns: []topColumn{{hoststat.Other, max(5, coreWidth(s)), func(s *hoststat.Sample) topCell {
		for i := range s.Services {
			if s.Services[i].Name == hoststat.Other {
				return coreCell(&s.Services[i])
			}
		}
		return topCell{text: "-"}
	}}}}
}

// diskGroups returns bytes and syncs per second and mean times. A sync is a flush of
// the disk's own cache; every fsync ends with one.
func diskGroups() []topGroup {
	ms := func(name string, width int, of func(s *hoststat.Sample) time.Duration) topColumn {
		return topColumn{name, width, func(s *hoststat.Sample) topCell {
			if d := of(s); d > 0 {
				return topCell{text: fmt.Sprintf("%.1f", d.Seconds()*1000)}
			}
			return topCell{text: "-"} // no such operation
		}}
	}
	return []topGroup{
		{"disk bytes/s", []topColumn{rate("read", 4, false, func(s *hoststat.Sample) float64 { return s.DiskIn }),
			rate("write", 5, false, func(s *hoststat.Sample) float64 { return s.DiskOut }),
			rate("sync", 4, false, func(s *hoststat.Sample) float64 { return s.DiskFlushes })}},
		{"mean ms", []topColumn{ms("read", 5, func(s *hoststat.Sample) time.Duration { return s.ReadTook }),
			ms("write", 5, func(s *hoststat.Sample) time.Duration { return s.WriteTook }),
			ms("sync", 5, func(s *hoststat.Sample) time.Duration { return s.FlushTook })}},
	}
}

func memoryGroup() topGroup {
	return topGroup{"memory", []topColumn{
		percent("stall%", 6, 0.05, func(s *hoststat.Sample) float64 { return s.PressureMemory }),
		{"swap", 4, func(s *hoststat.Sample) topCell { return topCell{report.Size(s.SwapUsed), s.SwapIn+s.SwapOut > 0} }},
		rate("in", 4, true, func(s *hoststat.Sample) float64 { return s.SwapIn }),
		rate("out", 4, true, func(s *hoststat.Sample) float64 { return s.SwapOut })}}
}

// busiest lists the services, those with the most CPU time first.
func busiest(s *hoststat.Sample) string {
	services := slices.SortedFunc(slices.Values(s.Services), func(a, b hoststat.ServiceSample) int {
		return cmp.Compare(b.User+b.System, a.User+a.System)
	})
	var names []string
	var cores []float64
	for _, sv := range services {
		names, cores = append(names, sv.Name), append(cores, sv.User+sv.System)
	}
	return report.ServiceCPU(names, cores)
}
