package plan

// A field is one of the fields of a step, in the documented order.
type field int

const (
	fieldStep field = iota
	fieldTaskType
	fieldTitle
	fieldTaskDescription
	fieldPrimaryTools
	fieldFallbackTools
	fieldPrimaryToolInstructions
	fieldFallbackToolInstructions
	fieldInputVariables
	fieldOutputVariable
	fieldOutputSchema
	fieldNextStep
	fieldVoteOn
	fieldIgnore
	fieldCompare
	fieldVoting
	fieldModel
	fieldTimeout
	fieldClass
	fieldCount

	firstOptional = fieldVoteOn

	noField field = -1 // the step as a whole
)

// fields are the names of the fields, where the value of those that are texts or
// lists is kept, and what a missing one could be, with %d for the step.
var fields = [fieldCount]struct {
	name string
	hint string
	text func(s *Step) *string
	list func(s *Step) *[]string
}{
	fieldStep:                     {name: "step", hint: ": step: %d"},
	fieldTaskType:                 {name: "task_type", hint: ", " + taskTypes},
	fieldTitle:                    {name: "title", text: func(s *Step) *string { return &s.Title }},
	fieldTaskDescription:          {name: "task_description", text: func(s *Step) *string { return &s.TaskDescription }},
	fieldPrimaryTools:             {name: "primary_tools", hint: noneInList, list: func(s *Step) *[]string { return &s.PrimaryTools }},
	fieldFallbackTools:            {name: "fallback_tools", hint: noneInList, list: func(s *Step) *[]string { return &s.FallbackTools }},
	fieldPrimaryToolInstructions:  {name: "primary_tool_instructions", hint: noText, text: func(s *Step) *string { return &s.PrimaryToolInstructions }},
	fieldFallbackToolInstructions: {name: "fallback_tool_instructions", hint: noText, text: func(s *Step) *string { return &s.FallbackToolInstructions }},
	fieldInputVariables:           {name: "input_variables", hint: noneInList, list: func(s *Step) *[]string { return &s.InputVariables }},
	fieldOutputVariable:           {name: "output_variable", hint: ", such as step_%d_output", text: func(s *Step) *string { return &s.OutputVariable }},
	fieldOutputSchema:             {name: "output_schema", text: func(s *Step) *string { return &s.OutputSchema }},
	fieldNextStep:                 {name: "next_step_sequence_number", hint: ": the next step, -1 to end, -2 in a conditional step"},
	fieldVoteOn:                   {name: "vote_on", list: func(s *Step) *[]string { return &s.VoteOn }},
	fieldIgnore:                   {name: "ignore", list: func(s *Step) *[]string { return &s.Ignore }},
	fieldCompare:                  {name: "compare", text: func(s *Step) *string { return &s.Compare }},
	fieldVoting:                   {name: "voting"},
	fieldModel:                    {name: "model", text: func(s *Step) *string { return &s.Model }},
	fieldTimeout:                  {name: "timeout", text: func(s *Step) *string { return &s.Timeout }},
	fieldClass:                    {name: "class", text: func(s *Step) *string { return &s.Class }},
}

const (
	taskTypes  = string(ActionStep) + " or " + string(ConditionalStep)
	noneInList = ", [] if there are none"
	noText     = `, "" if there are none`
)

func (f field) String() string { return fields[f].name }

func fieldNamed(name string) field {
	for f := range fieldCount {
		if fields[f].name == name {
			return f
		}
	}
	return noField
}

// listField and textField return where the value of a field is kept.
func (s *Step) listField(f field) *[]string { return fields[f].list(s) }
func (s *Step) textField(f field) *string   { return fields[f].text(s) }
