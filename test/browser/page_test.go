package browser

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// script is what the simulated agents of these tests do.
const script = `
- match: 'Rewrite (\S+) for the page\.'
  after: 0
  right: {tool_calls: [{name: Write, input: {file_path: '${1}', content: "first line\nsecond line, as it shall be\nthird line\n"}}]}
  wrong: [{tool_calls: [{name: Write, input: {file_path: '${1}', content: "first line\n"}}]}]
- match: 'Rewrite (\S+) for the page\.'
  match_result: '.'
  answers: [{text: 'result: it is rewritten'}]
- match: '(?ms)Paint the fence\..*Question: Which colour.*Answer: (\w+)'
  answers: [{text: 'result: it is ${1}'}]
- match: 'Paint the fence\.'
  answers: [{tool_calls: [{name: AskUserQuestion, input: {question: 'Which colour?', options: [red, blue]}}]}]
- match: 'Say what is hostile\.'
  answers: [{text: 'result: "<script>window.hacked = 1</script><img src=x onerror=''window.hacked = 1''> reversed \u202egnp.exe and red \e[31m"'}]
`

const hostile = `<img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script> Say what is hostile.`

// newest is the name of the only run of a site.
func (s *site) newest() string {
	s.t.Helper()
	list, err := os.ReadDir(filepath.Join(s.dir, "runs"))
	if err != nil || len(list) == 0 {
		s.t.Fatalf("there are no runs: %v", err)
	}
	return list[len(list)-1].Name()
}

// startRun fills in the form and starts a run with it.
func (p *tab) startRun(kind, task string, settings map[string]string) {
	p.t.Helper()
	p.at("#/start")
	p.wait(`document.querySelector('#kind')?.value`)
	p.get(fmt.Sprintf(`(() => { const k = document.querySelector('#kind'); k.value = %q; k.dispatchEvent(new Event('change')); })()`, kind))
	if task != "" {
		p.do(chromedp.SendKeys(chromedp.CSS("#task"), task))
	}
	for name, value := range settings {
		p.get(fmt.Sprintf(`document.querySelector('#set-%s').closest('details')?.setAttribute('open', '')`, name))
		p.get(fmt.Sprintf(`(() => { const e = document.querySelector('#set-%s'); e.value = %q; e.dispatchEvent(new Event(e.tagName === 'SELECT' ? 'change' : 'input')); })()`, name, value))
	}
}

func TestStartsARunAndWatchesIt(t *testing.T) {
	s := newSite(t, nil).serve()
	p := s.open(1280)
	p.waitText("#main", "There are no runs yet")
	p.startRun("hanoi", "", map[string]string{"disks": "7", "model": "sim/default?p=0.95&latency=15ms", "ahead_by": "4"})
	p.waitText("aside.command pre", "--disks 7")
	p.waitText("aside.command pre", "--ahead-by 4")
	command := p.get(`document.querySelector('aside.command pre').textContent`)
	p.click("button", "Start")
	p.waitText("h1", "Towers of Hanoi with 7 disks")
	p.waitText(".meta", "running")
	first, _ := strconv.Atoi(p.get(`document.querySelector('.pacing progress').value`))
	p.wait(fmt.Sprintf(`document.querySelector('.pacing progress').value > %d`, first)) // without a look from us
	p.waitText(".pacing", "steps/s")
	p.waitText(".pacing", "left")
	p.waitText(".meta", "completed")
	p.wait(`document.querySelector('.pacing progress').value === 127`)
	p.waitText(".strip .where", "127 steps")
	p.waitText(".rows a", "–") // a contested step
	// The command that was shown does the same.
	other := newSite(t, nil)
	out, err := other.shell(command)
	if err != nil || !strings.Contains(out, "127") {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}

func TestApprovesACallWithItsDifference(t *testing.T) {
	s := newSite(t, map[string]string{"script.yaml": script, "notes.txt": "first line\nsecond line\nthird line\n"}).serve()
	p := s.open(1280)
	p.startRun("do", "Rewrite notes.txt for the page.", map[string]string{"model": "sim/default?p=0.8&seed=3&script=script.yaml", "ahead_by": "2"})
	p.click("button", "Start")
	p.waitText(".question h2", "May Write be called?")
	p.waitText(".question .call", "Write")
	p.waitText(".question .diff .del", "second line")
	p.waitText(".question .diff .add", "second line, as it shall be")
	p.waitText(".question .behind", "margin 2")
	p.waitText("#waits", "1 waiting")
	if got := p.get(`document.querySelector('#told').textContent`); got != "1 run waits for you" {
		t.Errorf("screen readers are told %q, want that a run waits", got)
	}
	before, err := os.ReadFile(filepath.Join(s.dir, "notes.txt"))
	if err != nil || strings.Contains(string(before), "shall") {
		t.Errorf("notes.txt is %q before it was allowed: %v", before, err)
	}
	p.click(".question button", "Allow once")
	p.waitText(".meta", "completed")
	after, err := os.ReadFile(filepath.Join(s.dir, "notes.txt"))
	if err != nil || !strings.Contains(string(after), "second line, as it shall be") {
		t.Errorf("notes.txt is %q after it was allowed: %v", after, err)
	}
	p.wait(`document.querySelector('.waiting').hidden`)
	p.click(".tabs a", "Calls")
	p.waitText(".effect summary", "done")
	p.waitText(".effect summary", "notes.txt")
	p.click(".tabs a", "Checklist")
	p.waitText(".checklist", "Rewrite notes.txt")
	p.wait(`document.querySelector('.checklist .check')?.textContent === '✓'`)
}

// TestComparesCalls looks at a step whose closest vote was about a call, and which ended with a
// result: the calls are compared with each other, and the result is shown after them.
func TestComparesCalls(t *testing.T) {
	s := newSite(t, map[string]string{"script.yaml": script, "notes.txt": "first line\nsecond line\nthird line\n"})
	s.maker("do", "Rewrite notes.txt for the page.", "--model", "sim/default?p=0.6&seed=5&script=script.yaml", "-k", "3", "--approve", "none")
	s.serve()
	p := s.open(1280)
	p.at("#/runs/" + s.newest() + "/step/0")
	p.waitText(".rival", "Won")
	p.waitText(".rival .diff", "as it shall be")
	p.waitText(".stepview", "This was the closest vote of the step. The step came to:")
	p.waitText(".stepview", "it is rewritten")
}

func TestRefusesACallWithAWord(t *testing.T) {
	s := newSite(t, map[string]string{"script.yaml": script, "notes.txt": "kept\n"}).serve()
	p := s.open(1280)
	p.startRun("do", "Rewrite notes.txt for the page.", map[string]string{"model": "sim/default?p=1&script=script.yaml", "ahead_by": "2"})
	p.click("button", "Start")
	p.do(chromedp.SendKeys(chromedp.CSS(".refuse input"), "never"))
	p.click(".question button", "Refuse")
	p.wait(`document.querySelector('.waiting').hidden`)
	p.click(".tabs a", "Questions")
	p.waitText(".asked", "no, never")
	p.click(".tabs a", "Calls")
	p.waitText(".effect summary", "refused")
	if data, err := os.ReadFile(filepath.Join(s.dir, "notes.txt")); err != nil || string(data) != "kept\n" {
		t.Errorf("notes.txt is %q, %v; want it kept", data, err)
	}
}

func TestAnswersAQuestion(t *testing.T) {
	s := newSite(t, map[string]string{"script.yaml": script}).serve()
	p := s.open(1280)
	p.startRun("do", "Paint the fence.", map[string]string{"model": "sim/default?p=1&script=script.yaml", "ahead_by": "2"})
	p.click("button", "Start")
	p.waitText(".question", "Which colour?")
	p.click(".question .option", "blue")
	p.waitText(".meta", "completed")
	p.click(".tabs a", "Questions")
	p.waitText(".asked", "blue")
	p.click(".tabs a", "Steps")
	p.click(".switch button", "All in order")
	p.waitText(".rows a", "Paint the fence")
	p.click(".rows a", "Paint the fence")
	p.waitText(".stepview", "it is blue")
}

func TestCancelsARun(t *testing.T) {
	s := newSite(t, nil).serve()
	p := s.open(1280)
	p.startRun("hanoi", "", map[string]string{"disks": "12", "model": "sim/default?latency=50ms"})
	p.click("button", "Start")
	p.waitText(".meta", "running")
	p.click(".top button", "Cancel")
	p.waitText("dialog", "Cancel the run "+s.newest()+"?")
	p.click("dialog button", "Back")
	p.wait(`!document.querySelector('dialog')`)
	p.waitText(".meta", "running")
	p.click(".top button", "Pause")
	p.click("dialog button", "Pause")
	p.waitText(".meta", "paused")
	p.click(".top button", "Resume")
	p.click("dialog button", "Resume")
	p.waitText(".meta", "running")
	p.click(".top button", "Cancel")
	p.click("dialog button", "Cancel the run")
	p.waitText(".meta", "cancelled")
	p.click("header nav a", "Runs")
	p.waitText(".runs li", "cancelled")
	// It is removed elsewhere, and goes from the list by itself.
	s.maker("rm", s.newest(), "--yes")
	p.waitText("#main", "There are no runs yet")
}

// TestLeavesADialog goes back to another run while it is asked whether this one is to be ended.
func TestLeavesADialog(t *testing.T) {
	s := newSite(t, nil).serve()
	s.maker("hanoi", "--disks", "3", "--model", "sim/default?p=1")
	other := s.newest()
	p := s.open(1280)
	p.at("#/runs/" + other)
	p.waitText(".meta", "completed")
	p.startRun("hanoi", "", map[string]string{"disks": "12", "model": "sim/default?latency=50ms"})
	p.click("button", "Start")
	p.waitText(".meta", "running")
	p.click(".top button", "Cancel")
	p.waitText("dialog", "Cancel the run ")
	p.at("#/runs/" + other)
	p.waitText(".meta", other)
	p.wait(`!document.querySelector('dialog')`)
	p.get(`history.back()`)
	p.waitText(".meta", "running")
	p.click(".top button", "Cancel")
	p.click("dialog button", "Cancel the run")
	p.waitText(".meta", "cancelled")
}

// TestSaysWhatIsWrong has what the server refuses shown at the field that is to blame.
func TestSaysWhatIsWrong(t *testing.T) {
	s := newSite(t, nil).serve()
	p := s.open(1280)
	p.allow("status of 400")
	p.startRun("hanoi", "", map[string]string{"disks": "99"})
	p.waitText(".start .problem", "disks")
	p.wait(`document.querySelector('#set-disks').getAttribute('aria-invalid') === 'true'`)
	p.startRun("hanoi", "", map[string]string{"disks": "3", "model": "nobody/knows"})
	p.click("button", "Start")
	p.waitText(".start .problem", "nobody")
	p.allow("status of 404")
	p.at("#/runs/there-is-none")
	p.waitText(".problem", "there-is-none")
}

func TestTellsThatTheConnectionIsLost(t *testing.T) {
	s := newSite(t, nil).serve()
	p := s.open(1280)
	p.allow("Failed to load resource", "net::ERR")
	p.waitText("#main", "There are no runs yet")
	if got := p.get(`document.querySelector('#lost').hidden`); got != "true" {
		t.Fatalf("the connection is said to be lost while it is there")
	}
	s.stop()
	p.waitText("#lost", "connection to the server is lost")
	p.wait(`document.querySelector('#main.old')`)
	// Sessions end with the server, which the page says until there is another one.
	s.again()
	p.waitText("#lost", "maker token link")
	p.wait(`document.querySelector('#main.old')`)
	s.maker("hanoi", "--disks", "3", "--model", "sim/default?p=1")
	p.get(fmt.Sprintf(`void fetch(%q)`, s.link))
	p.wait(`document.querySelector('#lost').hidden && !document.querySelector('#main.old')`)
	p.waitText(".runs li", "completed")
}

// A million steps are opened in a second, and the closest call of them in two clicks.
func TestAMillionSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes a run of a million steps")
	}
	s := newSite(t, nil)
	s.maker("hanoi", "--disks", "20", "--model", "sim/default?p=0.9978&malformed=0.032", "--ahead-by", "3", "--quiet")
	name := s.newest()
	closest, of := closestOf(t, filepath.Join(s.dir, "runs", name))
	if of != 1<<20-1 {
		t.Fatalf("the run has %d steps, want all", of)
	}
	s.serve()
	p := s.open(1440)
	p.waitText(".runs li", "1,048,575")
	p.click(".runs li a", "Towers of Hanoi") // one
	p.waitText(".strip .where", "1,048,575 steps")
	p.wait(`document.querySelector('.rows a')`)
	p.do(chromedp.Click(chromedp.CSS(".rows li:first-child a"))) // two
	p.waitText(".stepview .rival header", "Won")
	if got := p.get(`location.hash`); got != fmt.Sprintf("#/runs/%s/step/%d", name, closest) {
		t.Errorf("the first of the closest calls is %s, want step %d", got, closest)
	}
	p.waitText(".stepview .diff", "move")

	// A whole new page, as by a link that somebody was sent. A busy machine can spoil a
	// measurement, so that it may be taken three times.
	best := math.Inf(1)
	for range 3 {
		p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(p.base+"/#/runs/"+name))
		p.wait(`performance.getEntriesByName('strip').length > 0`)
		ms, err := strconv.ParseFloat(p.get(`performance.getEntriesByName('strip')[0].startTime`), 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("the strip of %d steps is there after %.0f ms", of, ms)
		if best = min(best, ms); best <= 1000 {
			break
		}
	}
	if best > 1000 {
		t.Errorf("the strip of %d steps takes %.0f ms, want at most a second", of, best)
	}
	// Down to single steps, and one of them.
	for range 4 {
		before := p.get(`location.hash`)
		p.do(chromedp.Click(chromedp.CSS(".strip .cells")))
		p.wait(fmt.Sprintf(`location.hash !== %q`, before))
		if strings.Contains(p.get(`location.hash`), "/step/") {
			break
		}
		p.wait(`document.querySelector('.strip .where').textContent.includes(Number(location.hash.match(/from=(\d+)/)[1]).toLocaleString('en'))`)
	}
	if got := p.get(`location.hash`); !strings.Contains(got, "/step/5242") {
		t.Errorf("four clicks in the middle lead to %s, want a step in the middle", got)
	}
	p.waitText(".stepview h2", "Step 524,2")
	p.get(`history.back()`)
	p.wait(`!location.hash.includes('/step/') && location.hash.includes('from=')`)
	p.wait(`!document.querySelector('.stepview')`)
}

// closestOf reads the index of a run: the step that was won by the lowest share of its votes,
// the first of those with the lowest margin, and how many steps there are.
func closestOf(t *testing.T, dir string) (step, steps int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "steps.idx"))
	if err != nil {
		t.Fatal(err)
	}
	best, margin := 2.0, 0
	for rec := data[16:]; len(rec) >= 48; rec = rec[48:] {
		word := func(at int) int { return int(binary.LittleEndian.Uint16(rec[at:])) }
		votes, lead := word(28)-word(30), word(34)
		share := 1.0
		if word(36) > 1 && votes > 0 {
			share = float64(lead) / float64(votes)
		}
		if share < best || share == best && lead < margin {
			best, margin, step = share, lead, int(binary.LittleEndian.Uint32(rec[12:]))
		}
		steps++
	}
	return step, steps
}

// What models and tools say is shown and never run.
func TestShowsHostileText(t *testing.T) {
	huge := strings.Repeat("0123456789abcdef <b>bold</b>\n", 60_000) // 1.7 MB
	s := newSite(t, map[string]string{"script.yaml": script})
	s.maker("do", hostile, "--model", "sim/default?p=1&script=script.yaml", "-k", "2", "--no-input")
	ask := s.command("ask", "-", "--model", "sim/default?script=script.yaml", "--no-input")
	ask.Stdin = strings.NewReader(hostile + " " + huge)
	if out, err := ask.CombinedOutput(); err != nil {
		t.Fatalf("maker ask: %v\n%s", err, out)
	}
	s.serve()
	p := s.open(1280)
	p.waitText(".runs .task", "<img src=x onerror=")
	p.waitText(".runs .task", "<script>window.hacked = 1</script>")
	p.click(".runs li a", "do-")
	p.waitText("h1", "<img src=x onerror=")
	for _, tab := range []string{"Checklist", "Calls", "Questions", "Certificate", "Settings", "Log"} {
		p.click(".tabs a", tab)
		p.wait(`document.querySelector('.body > *')`)
	}
	p.waitText(".log", "task submitted")
	p.click(".tabs a", "Steps")
	p.click(".switch button", "All in order")
	p.wait(`document.querySelector('.rows a')`)
	p.do(chromedp.Click(chromedp.CSS(".rows a")))
	p.waitText(".stepview .block", `<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>`)
	p.waitText(".stepview .escape", `\u202e`)
	p.waitText(".stepview .escape", `\x1b`)
	p.noHarm()

	p.at("#/?q=ask")
	p.waitText(".runs .name", "ask-")
	p.click(".runs li a", "ask-")
	p.click(".tabs a", "Settings")
	p.waitText(".body button.more", "Show more")
	if n, _ := strconv.Atoi(p.get(`document.querySelector('.body .block').textContent.length`)); n > 100_000 {
		t.Errorf("%d characters of a huge text are shown at once", n)
	}
	p.click(".body button.more", "Show more")
	p.wait(`document.querySelector('.body .block').textContent.length > 50000`)
	p.noHarm()
}

// noHarm fails the test if text of others got to be more than text.
func (p *tab) noHarm() {
	p.t.Helper()
	if got := p.get(`window.hacked`); got != "undefined" {
		p.t.Errorf("text of others has run as a script")
	}
	if got := p.get(`document.querySelectorAll('main img, main script, main iframe, main b.x, main [onerror]').length`); got != "0" {
		p.t.Errorf("text of others has become %s elements", got)
	}
	for _, mark := range []string{"\u202e", "\x1b"} {
		if got := p.get(fmt.Sprintf(`document.body.textContent.includes(%q)`, mark)); got != "false" {
			p.t.Errorf("%q is on the page as it is", mark)
		}
	}
}

// Everything can be reached without a mouse.
func TestKeyboardOnly(t *testing.T) {
	s := newSite(t, nil)
	s.maker("hanoi", "--disks", "6", "--model", "sim/default?p=0.8&seed=2", "-k", "3")
	s.maker("hanoi", "--disks", "3", "--model", "sim/default?p=1")
	s.serve()
	p := s.open(1280)
	p.wait(`document.querySelectorAll('.runs li').length === 2`)
	p.keys("?")
	p.waitText("dialog", "Keys")
	p.keys(kb.Escape)
	p.wait(`!document.querySelector('dialog')`)
	p.keys("/")
	p.wait(`document.activeElement.id === 'search'`)
	p.keys("p=0.8")
	p.wait(`document.querySelectorAll('.runs li').length === 1 && location.hash.includes('q=')`)
	p.keys(kb.Escape)
	p.keys("j")
	p.wait(`document.activeElement.closest('.runs li')`)
	p.keys(kb.Enter)
	p.waitText("h1", "6 disks")
	p.wait(`document.querySelector('.rows a')`)
	p.keys("j")
	p.wait(`document.activeElement.closest('.rows a')`)
	if got := p.get(`getComputedStyle(document.activeElement).outlineStyle`); got != "solid" {
		t.Errorf("what has the focus is outlined %s, want it to be seen", got)
	}
	p.keys(kb.Enter)
	p.waitText(".stepview .rival", "Won")
	p.wait(`document.activeElement.closest('.stepview')`)
	step := p.get(`location.hash`)
	p.keys("]")
	p.wait(fmt.Sprintf(`location.hash !== %q`, step))
	p.keys(kb.Escape)
	p.wait(`!document.querySelector('.stepview')`)
	p.keys("s")
	p.wait(`document.activeElement.getAttribute('role') === 'application'`)
	p.keys("n") // the first contested one
	p.waitText(".strip .says", "contested")
	said := p.get(`document.querySelector('.strip .says').textContent`)
	p.keys("+")
	p.wait(`location.hash.includes('from=')`)
	p.waitText(".strip .where", "of 63")
	if got := p.get(`document.querySelector('.strip .says').textContent`); got != said {
		t.Errorf("after + the strip is at %q, want it to stay at %q", got, said)
	}
	p.wait(`document.querySelector('[role=application]').getAttribute('aria-label').startsWith('Margins of steps')`)
	p.keys("0")
	p.wait(`!location.hash.includes('from=')`)
	p.keys("t")
	p.wait(`document.documentElement.dataset.theme === 'dark'`)
	p.do(chromedp.Reload())
	p.wait(`document.documentElement.dataset.theme === 'dark'`) // it is kept
	p.keys("g")
	p.wait(`document.querySelectorAll('.runs li').length === 2`)
	// Tab leads from link to link, and each says where it leads.
	p.keys(kb.Tab)
	if got := p.get(`document.activeElement.textContent`); got == "" {
		t.Errorf("the first stop of the Tab key has no name")
	}
	if got := p.get(`['header', 'nav', 'main'].every((e) => document.querySelector(e))`); got != "true" {
		t.Errorf("there are no landmarks")
	}
	unnamed := p.get(`[...document.querySelectorAll('button, a, input, select, textarea, canvas:not([aria-hidden])')].filter((e) => !(e.innerText?.trim() || e.getAttribute('aria-label') || e.labels?.length || e.title)).map((e) => e.outerHTML).join('\n')`)
	if unnamed != "" {
		t.Errorf("these have no name for a screen reader:\n%s", unnamed)
	}
}
