// What the API says, as far as the page looks at it. See /api/openapi.json.

/** @typedef {{$sha256: string, bytes: number}} Ref a value that is kept beside the log */
/** @typedef {unknown} Value a JSON value, a Ref, or {"$value": ...} around one that looks like these */

/**
 * @typedef {object} Summary a run at a glance
 * @property {string} run
 * @property {string} kind
 * @property {string} task
 * @property {string} status
 * @property {string} state
 * @property {string} [stop]
 * @property {number} steps_completed
 * @property {number} steps_total
 * @property {number | null} total_cost_usd
 * @property {string} model
 * @property {boolean} simulated
 * @property {string} started
 * @property {string} updated
 * @property {string} [owner]
 * @property {number} [pid]
 * @property {string} [error]
 */

/**
 * @typedef {object} Rule
 * @property {string} strategy
 * @property {number} [n]
 * @property {number} [k]
 * @property {number} [target_error]
 * @property {number} [max_samples]
 */

/** @typedef {{answer: unknown, votes: number, key?: string}} Candidate */
/** @typedef {{flag: string, count: number, reason: string, said?: string}} Discarded */
/** @typedef {{voter: string, framing?: number, votes?: number, dissent?: number, flagged?: number, cost_usd?: number | null}} Share */

/**
 * @typedef {object} Voting
 * @property {string} strategy
 * @property {number} samples
 * @property {number} red_flagged
 * @property {number} faults
 * @property {number} [cancelled]
 * @property {Record<string, number> | null} votes
 * @property {number} margin
 * @property {string[]} [unvoted]
 * @property {Share[]} [shares]
 * @property {Candidate[]} [answers]
 * @property {Discarded[]} [discarded]
 */

/** @typedef {{tool: string, input: unknown}} Intent */

/**
 * @typedef {object} Question what only a person can say
 * @property {string} question its key
 * @property {number} step
 * @property {string} kind question, approval, outcome or plan
 * @property {string} text
 * @property {string[]} [options]
 * @property {boolean} [free]
 * @property {Intent} [call]
 * @property {Voting} [voting]
 * @property {string} [folder]
 * @property {string} [plan]
 * @property {{path: string, state: string, diff: string}} [change]
 * @property {string} [rule] that would let calls like this pass for the rest of the run
 * @property {string} [left] an answer that the run has not taken yet
 * @property {boolean} [answered]
 * @property {string} [answer]
 * @property {string} [by]
 */

/**
 * @typedef {object} StepResult
 * @property {number} step
 * @property {string} [title]
 * @property {string} [by]
 * @property {Value} output
 * @property {Voting} voting
 * @property {Voting} [first]
 * @property {number | null} cost_usd
 * @property {number} duration_ms
 */

/** @typedef {{key: string, votes: number, won: boolean, answer: unknown, voters?: string[]}} Rival */

/**
 * @typedef {object} Sample one attempt at a question
 * @property {string} question its key
 * @property {number} sample
 * @property {'vote' | 'flag' | 'fault'} outcome
 * @property {string} [voter]
 * @property {string} [model]
 * @property {number} [framing]
 * @property {number} [temperature]
 * @property {{input: number, output: number, reasoning?: number}} [tokens]
 * @property {number | null} cost_usd
 * @property {number} duration_ms
 * @property {string} [vote]
 * @property {Value} [text]
 * @property {Value} [read]
 * @property {Intent} [intent]
 * @property {boolean} [repaired]
 * @property {string} [flag]
 * @property {string} [reason]
 */

/**
 * @typedef {object} StepMore
 * @property {string} [class]
 * @property {Rival[] | null} rivals
 * @property {string} [voted]
 * @property {Sample[] | null} samples
 * @property {string} [asked]
 * @property {string[]} [dissent]
 * @property {Effect[]} [effects]
 * @property {string[]} [changed]
 * @property {string} status
 * @property {string} [reason]
 */

/** @typedef {StepResult & StepMore} StepDetail */

/**
 * @typedef {object} Effect
 * @property {string} effect
 * @property {number} step
 * @property {string} tool
 * @property {Value} input
 * @property {string} status
 * @property {string} [by]
 * @property {Value} result
 * @property {Voting} [voting]
 * @property {Value} [voted]
 * @property {{path: string, kept?: string}} [before]
 */

/**
 * @typedef {object} Strip
 * @property {number} from
 * @property {number} to
 * @property {number} steps that are done in this range
 * @property {number} total of the task, or done
 * @property {number[]} count steps of each cell
 * @property {number[]} margin the lowest one; -1 without a step
 * @property {number[]} lead the lowest share of votes by which a step was won; -1 without a step
 * @property {number[]} contested
 * @property {number[]} flagged
 */

export {};
