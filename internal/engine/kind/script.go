package kind

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/metrics"

	"github.com/maker-mdap/maker/config"
	"github.com/maker-mdap/maker/event"
	"github.com/maker-mdap/maker/flow"
	"github.com/maker-mdap/maker/internal/orchestrator/chain"
	"github.com/maker-mdap/maker/internal/orchestrator/script"
	"github.com/maker-mdap/maker/internal/prompts"
)

// scriptKind is a procedure that a user wrote.
var scriptKind = Kind{Name: Script, Form: event.FormScript, Settings: config.Scripting, job: scriptJob}

// Script is its name.
const Script = "script"

// ScriptParams are what a run is about, as its log has it.
type ScriptParams struct {
	Script script.Source     `json:"script"`
	Args   map[string]string `json:"args,omitempty"`

	// SHA256 are the hashes of the files of the script, by their names.
	SHA256 map[string]string `json:"sha256,omitempty"`
}

// ReadScriptParams reads those of a log.
func ReadScriptParams(params json.RawMessage) (ScriptParams, error) {
	var p ScriptParams
	if err := json.Unmarshal(params, &p); err != nil {
		return p, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	return p, nil
}

// Hashed is p with its hashes.
func (p ScriptParams) Hashed() ScriptParams {
	p.SHA256 = map[string]string{}
	for name, text := range p.Script.Files {
		p.SHA256[name] = hashOf(text)
	}
	p.SHA256[p.Script.Name] = hashOf(p.Script.Text)
	return p
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// config is what the script is run with.
func (p ScriptParams) config(cfg config.Config) (script.Config, error) {
	program, err := script.Compile(p.Script)
	if err != nil {
		return script.Config{}, &config.Error{Field: "script", Err: err}
	}
	set, err := promptSet(cfg)
	c := scriptConfig(cfg, set)
	c.Program, c.Args = program, p.Args
	return c, err
}

// scriptConfig is how scripts are run.
func scriptConfig(cfg config.Config, set *prompts.Set) script.Config {
	return script.Config{Terms: terms(cfg), Pool: cfg.Solve.ModelEscalation, Meaning: meaning(cfg), Prompts: set, Room: newRoom()}
}

func scriptJob(_ Env, _ string, params json.RawMessage, cfg config.Config) (*Job, error) {
	p, err := ReadScriptParams(params)
	if err != nil {
		return nil, err
	}
	c, err := p.config(cfg)
	if err != nil {
		return nil, err
	}
	return &Job{
		Task: p.Script.Name, Agents: true, Prompts: c.Prompts, NoModel: !c.Program.Asks(),
		Run: func(f flow.Flow, _ chain.Checkpoint) error {
			c.Room = newRoom()
			return script.Run(f, c)
		},
	}, nil
}

// Rehearse runs the script on a flow that only knows what is recorded. It tells w what it does.
func (p ScriptParams) Rehearse(cfg config.Config, f flow.Flow, w script.Watcher) error {
	c, err := p.config(cfg)
	if err != nil {
		return err
	}
	c.Watch = w
	return script.Run(f, c)
}

// maxScriptMemory is how much more memory than at its beginning a program may need while a
// script runs, in bytes.
const maxScriptMemory = 1 << 30

// newRoom returns a function that reports when a script has used up its memory.
func newRoom() func() error {
	first := heapBytes()
	return func() error {
		if heapBytes() < first+maxScriptMemory {
			return nil
		}
		runtime.GC() // some of it may be garbage
		if heapBytes() < first+maxScriptMemory {
			return nil
		}
		return fmt.Errorf("the script holds more than %d MB in memory", maxScriptMemory>>20)
	}
}

func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
