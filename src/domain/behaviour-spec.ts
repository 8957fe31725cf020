/** A behaviour as data: the contents of a file `behaviours/<name>.md`. */

/** The parts of a session's past that a behaviour can show, once, when it is entered. */
export const MEMORY_SECTIONS = ['facts', 'talk', 'files', 'worklog', 'todos'] as const
export type MemorySection = (typeof MEMORY_SECTIONS)[number]

/** The parts of a step's input that a template can show. */
export const INPUT_PARTS = ['messages', 'events', 'todo', 'last_step', 'feedback'] as const

/** The two kinds of results: work that ends with `finish`, and routing that ends with `route` or a next behaviour. */
export const OUTPUT_KINDS = ['behaviour', 'router'] as const

export interface BehaviourSpec {
  readonly name: string
  readonly process_rules: string
  readonly policy: string
  readonly toolbox: string
  /** Tools offered to the model. A name that does not exist keeps the run from starting. */
  readonly tools: readonly string[]
  /** Skills that are named to the model as fitting for this behaviour. */
  readonly skills: readonly string[]
  /** What the behaviour may do to the workspace. */
  readonly access: 'write' | 'read_only' | 'copy'
  readonly output: (typeof OUTPUT_KINDS)[number]
  /** The sections of the memory in order of priority, with their token limits. */
  readonly memory: readonly { readonly section: MemorySection; readonly tokens: number }[]
  /** The text of a step's input, with `{messages}`, `{events}`, `{todo}`, `{last_step}` and `{feedback}`. */
  readonly input: string
  /** Number of steps after which `fallback` follows; null: no limit. */
  readonly step_limit: number | null
  /** The behaviour that follows at the step limit; `self`: the run waits, and the owner is asked; `end`: it fails. */
  readonly fallback: string
}
