package kind

import (
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
}

func scriptJob(_ Env, _ string, params json.RawMessage, cfg config.Config) (*Job, error) {
	var p ScriptParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("maker: parameters of the run: %w", err)
	}
	program, err := script.Compile(p.Script)
	if err != nil {
		return nil, &config.Error{Field: "script", Err: err}
	}
	set, err := promptSet(cfg)
	if err != nil {
		return nil, err
	}
	return &Job{
		Task: p.Script.Name, Agents: true, Prompts: set, NoModel: !program.Asks(),
		Run: func(f flow.Flow, _ chain.Checkpoint) error {
			c := scriptConfig(cfg, set)
			c.Program, c.Args = program, p.Args
			return script.Run(f, c)
		},
	}, nil
}

// scriptConfig is how scripts are run.
func scriptConfig(cfg config.Config, set *prompts.Set) script.Config {
	return script.Config{Terms: terms(cfg), Pool: cfg.Solve.ModelEscalation, Meaning: meaning(cfg), Prompts: set, Room: newRoom()}
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
