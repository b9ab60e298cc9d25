package prompts

// WriterSystem teaches a planner to write a script.
type WriterSystem struct{}

// WriterUser asks for the script of a task.
type WriterUser struct {
	Task      string
	Catalogue string // of the tools

	// Rejected is the script before, if it had problems.
	Rejected string
	Problems []string
}

// Prompt implements [Data].
func (WriterSystem) Prompt() string { return "writer_system" }

// Prompt implements [Data].
func (WriterUser) Prompt() string { return "writer_user" }

var writerSamples = []Data{
	WriterSystem{},
	WriterUser{
		Task: "Count the words in notes.txt.", Catalogue: "- Read (pure): Reads a file.\n",
		Rejected: "def main(args):\n    return cont(1)\n", Problems: []string{"script.star:2:12: undefined: cont (script)"},
	},
}
