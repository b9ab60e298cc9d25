//go:build linux

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/maker-mdap/maker/internal/process/protect"
)

// tree writes files, or links if the text begins with an arrow.
func tree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = errors.Join(err, os.Symlink(target, name))
		} else {
			err = errors.Join(err, os.WriteFile(name, []byte(text), 0o640))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// look reads what tree writes.
func look(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if target, err := os.Readlink(name); err == nil {
			files[rel] = "-> " + target
			return nil
		}
		if !d.Type().IsRegular() {
			files[rel] = d.Type().String()
			return nil
		}
		data, err := os.ReadFile(name)
		files[rel] = string(data)
		if errors.Is(err, os.ErrPermission) {
			files[rel], err = "unreadable", nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// attacksOnSettings each try to change something protected. Whether they succeed for
// a moment or not, it is as it was afterwards, and the outcome says so.
var attacksOnSettings = map[string]string{
	"write":             `echo evil > maker.yaml`,
	"append":            `echo evil >> maker.yaml`,
	"same time":         `touch -r maker.yaml ref; printf evil > maker.yaml && touch -r ref maker.yaml`,
	"replace":           `echo evil > new; mv -f new maker.yaml`,
	"remove":            `rm -f maker.yaml; test ! -e maker.yaml`,
	"rename":            `mv maker.yaml other`,
	"link instead":      `echo evil > other; ln -sf other maker.yaml`,
	"folder instead":    `rm maker.yaml && mkdir maker.yaml`,
	"pipe instead":      `rm maker.yaml && mkfifo maker.yaml`,
	"through a link":    `ln -s maker.yaml link; echo evil > link`,
	"another name":      `ln maker.yaml name && echo evil > name`,
	"readable":          `chmod 777 maker.yaml`,
	"make":              `echo evil > late.yaml`,
	"make below":        `mkdir -p .config/maker && echo evil > .config/maker/maker.yaml`,
	"link to make":      `echo evil > other; ln -s other late.yaml`,
	"in a folder":       `echo evil > conf/prices.yaml`,
	"folder renamed":    `mv conf away && mkdir conf && echo evil > conf/prices.yaml`,
	"folder linked":     `mv conf away && mkdir evil && echo evil > evil/prices.yaml && ln -s evil conf`,
	"folder linked out": `mv conf away && ln -s /etc conf`,
	"prompts":           `echo evil > prompts/planner.tmpl`,
	"more prompts":      `echo evil > prompts/new.tmpl`,
	"no prompts":        `rm -r prompts; test ! -e prompts/planner.tmpl`,
	"other prompts":     `mv prompts away; mkdir prompts; echo evil > prompts/planner.tmpl`,
	"linked":            `echo evil > other; ln -sf other linked.yaml`,
	"target":            `echo evil > store/linked.yaml`,
	"in the background": `echo evil > maker.yaml & wait $!`,
	"locked":            `echo evil > conf/prices.yaml; chmod 0 conf/prices.yaml; chmod 555 conf; exit 1`,
	"no folder":         `mv prompts away; ln -s "$PWD/away" prompts; echo evil > away/new.tmpl`,
}

func protectedTree(t *testing.T) (dir string, set *protect.Set, before map[string]string) {
	dir = t.TempDir()
	tree(t, dir, map[string]string{
		"maker.yaml": "good", "conf/prices.yaml": "good", "conf/free": "free", "prompts/planner.tmpl": "good",
		"linked.yaml": "-> store/linked.yaml", "store/linked.yaml": "good", "free": "free",
	})
	set = protect.New(dir, []string{
		"maker.yaml", "late.yaml", ".config/maker/maker.yaml", "conf/prices.yaml", "prompts/planner.tmpl", "prompts/new.tmpl", "linked.yaml",
	}, nil)
	return dir, set, look(t, dir)
}

func TestProtected(t *testing.T) {
	forms := map[string]means{"": {}, " without mounts": {Mounts: true}}
	forEach(t, all, func(t *testing.T, level Level) {
		for form, without := range forms {
			if level != Landlock && form != "" {
				continue
			}
			for name, script := range attacksOnSettings {
				t.Run(name+form, func(t *testing.T) {
					dir, set, before := protectedTree(t)
					s := open(t, Options{Workspace: dir, Levels: []Level{level}, Protected: set, without: without})
					out, outcome := sh(t, s, script)
					_ = os.Chmod(filepath.Join(dir, "conf"), 0o755) // so that it can be removed
					after := look(t, dir)
					for file := range before {
						if strings.HasPrefix(file, "conf/free") || file == "free" {
							continue // may be moved
						}
						if after[file] != before[file] {
							t.Errorf("Run(%s): %s = %q afterwards, want %q", script, file, after[file], before[file])
						}
					}
					for _, file := range []string{"late.yaml", ".config/maker/maker.yaml", "prompts/new.tmpl"} {
						if text, ok := after[file]; ok {
							t.Errorf("Run(%s): there is %s afterwards: %q", script, file, text)
						}
					}
					if info, err := os.Stat(filepath.Join(dir, "maker.yaml")); err != nil || info.Mode().Perm() != 0o640 {
						t.Errorf("Run(%s): maker.yaml is %v, %v, want the mode that it had", script, info, err)
					}
					if outcome.ExitCode == 0 && len(outcome.Changed) == 0 {
						t.Errorf("Run(%s) = %+v, %s, want a failure", script, outcome, out)
					}
				})
			}
		}
	})
}

// TestProtectedIsPrevented: where there are mounts, what is at the top of the workspace
// is never changed, not even for a moment, and neither are our own files.
func TestProtectedIsPrevented(t *testing.T) {
	forEach(t, confined, func(t *testing.T, level Level) {
		dir := t.TempDir()
		tree(t, dir, map[string]string{"maker.yaml": "good", "runs/log": "truth"})
		s := open(t, Options{Workspace: dir, Levels: []Level{level}, Protected: protect.New(dir, []string{"maker.yaml"}, []string{"runs"})})
		if level == Landlock && !s.hasMounts() {
			t.Skip(s.Describe())
		}
		for _, script := range []string{
			`echo evil > maker.yaml`, `rm maker.yaml`, `mv maker.yaml x`, `ln maker.yaml x`, `echo x > y; mv y maker.yaml || { rm y; exit 1; }`,
			`echo evil > runs/log`, `echo evil > runs/more`, `rm -r runs`, `mv runs x`, `umount maker.yaml`, `chmod 777 maker.yaml`,
		} {
			if out, outcome := sh(t, s, script); outcome.ExitCode == 0 || len(outcome.Changed) > 0 {
				t.Errorf("Run(%s) = %+v, %s, want a failure and nothing changed", script, outcome, out)
			}
		}
		if diff := cmp.Diff(map[string]string{"maker.yaml": "good", "runs/log": "truth"}, look(t, dir)); diff != "" {
			t.Errorf("the workspace: -want +got\n%s", diff)
		}
		if out, outcome := sh(t, s, `cat maker.yaml runs/log; echo new > new; mkdir d; mv new d/new; cat d/new`); out != "goodtruthnew\n" || outcome.ExitCode != 0 {
			t.Errorf("Run(what is allowed) = %+v, %q, want success", outcome, out)
		}
	})
}

// TestMadeSettings: what a command makes in the place of a setting is not in force
// when it ends, and not lost.
func TestMadeSettings(t *testing.T) {
	forEach(t, all, func(t *testing.T, level Level) {
		dir := t.TempDir()
		s := open(t, Options{Workspace: dir, Levels: []Level{level}, Protected: protect.New(dir, []string{"maker.yaml"}, nil)})
		_, outcome := sh(t, s, `echo evil > maker.yaml`)
		if len(outcome.Changed) != 1 || !strings.Contains(outcome.Changed[0], "maker.yaml was made") {
			t.Errorf("Run(maker.yaml made) = %+v, want it said", outcome)
		}
		if diff := cmp.Diff(map[string]string{"maker.yaml.refused": "evil\n"}, look(t, dir)); diff != "" {
			t.Errorf("the workspace: -want +got\n%s", diff)
		}
	})
}

// TestUnprotectedIsFree: nothing is said about anything else.
func TestUnprotectedIsFree(t *testing.T) {
	forEach(t, all, func(t *testing.T, level Level) {
		dir, set, before := protectedTree(t)
		s := open(t, Options{Workspace: dir, Levels: []Level{level}, Protected: set})
		const script = `cat maker.yaml linked.yaml prompts/* conf/* > all; echo more >> conf/free; mkdir -p .config/other; rm free; ls -la > list`
		if out, outcome := sh(t, s, script); outcome.ExitCode != 0 || len(outcome.Changed) > 0 {
			t.Errorf("Run(%s) = %+v, %s, want success", script, outcome, out)
		}
		after := look(t, dir)
		before["conf/free"] += "more\n"
		before["all"] = "goodgoodgoodfreegood"
		delete(before, "free")
		delete(after, "list")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("the workspace: -want +got\n%s", diff)
		}
	})
}
