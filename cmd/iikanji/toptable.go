package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/hoststat"
	"github.com/iikanji/iikanji/internal/observe"
	"github.com/iikanji/iikanji/internal/report"
)

// A topCell is a number; odd marks it in red.
type topCell struct {
	text string
	odd  bool
}

// A topColumn is a right-aligned column of numbers below a name.
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

// gap separates groups.
const gap = "  "

// lines draws a sample for a screen of cols columns and rows lines.
func (t *topTable) lines(s *hoststat.Sample, cols, rows int) string {
	groups, rest := topLayout(s, cols)
	names, line := topHead(groups, rest > 0), topLine(groups, s, t.color)
	if rest > 0 {
		line += gap + report.Shorten(busiest(s), rest)
	}
	var b strings.Builder
	if t.since++; names != t.head || t.since > rows-2 {
		t.head, t.since = names, 1
		for row := range strings.Lines(names) {
			b.WriteString(paint(strings.TrimSuffix(row, "\n"), "1", t.color) + "\n")
		}
	}
	return b.String() + line + "\n"
}

// paint returns text with a terminal attribute, such as 1 for bold.
func paint(text, attribute string, color bool) string {
	if !color {
		return text
	}
	return "\x1b[" + attribute + "m" + text + "\x1b[0m"
}

// topLayout chooses the groups that fit. If the services do not fit as columns, rest
// is the width at the end of the line for a list of the busiest ones.
func topLayout(s *hoststat.Sample, cols int) (groups []topGroup, rest int) {
	first := []topGroup{timeGroup(), cpuGroup()}
	left := cols
	for i := range first {
		left -= first[i].width() + len(gap)
	}
	left += len(gap) // there is no gap before the first group
	services := serviceGroup(s, "% of a core", coreWidth(s), coreCell)
	listed := len(services.columns) == 0 || services.width()+len(gap) > left
	if !listed {
		left -= services.width() + len(gap)
		first = append(first, services)
	} else if cols >= 80 { // a narrower screen has room for the list only
		left -= minListWidth
	}
	for _, g := range furtherGroups(s, !listed) {
		if w := g.width() + len(gap); len(g.columns) > 0 && w <= left && !(listed && cols < 80) {
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
	return first, max(left-len(gap), 1)
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

// topHead returns the labels of the groups above the names of the columns. list adds
// the heading of the list of services.
func topHead(groups []topGroup, list bool) string {
	var labels, names []string
	for _, g := range groups {
		w := g.width()
		labels = append(labels, fmt.Sprintf("%-*s", w, report.Shorten(g.label, w)))
		var row []string
		for _, c := range g.columns {
			row = append(row, pad(c.name, c.width))
		}
		names = append(names, strings.Join(row, " "))
	}
	if list {
		labels, names = append(labels, ""), append(names, "% of a core")
	}
	return strings.TrimRight(strings.Join(labels, gap), " ") + "\n" + strings.Join(names, gap) + "\n"
}

func topLine(groups []topGroup, s *hoststat.Sample, color bool) string {
	var parts []string
	for _, g := range groups {
		var row []string
		for _, c := range g.columns {
			v := c.cell(s)
			text := pad(v.text, c.width)
			if v.odd { // a mark only: the number is there without colour too
				text = paint(text, "1;31", color)
			}
			row = append(row, text)
		}
		parts = append(parts, strings.Join(row, " "))
	}
	return strings.Join(parts, gap)
}

func pad(text string, width int) string {
	return strings.Repeat(" ", max(width-report.Width(text), 0)) + text
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
