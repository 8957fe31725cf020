/** What a shell has to know to complete a command line, read from the same grammar as the help texts. */

import type { Command as Program } from 'commander'

export interface Verb {
  /** `queue list`; empty for the program itself. */
  readonly path: string
  readonly summary: string
  readonly verbs: readonly { readonly name: string; readonly summary: string }[]
  readonly options: readonly OptionGrammar[]
  /** Values of positional arguments that accept only these. */
  readonly values: readonly string[]
}

interface OptionGrammar {
  /** `--how`, `-n`. */
  readonly flags: readonly string[]
  readonly help: string
  readonly takesValue: boolean
  readonly choices: readonly string[]
}

/** Contract: the program, its groups and their verbs, each after its parent. */
export function readGrammar(program: Program, path = ''): readonly Verb[] {
  const pathOf = (name: string): string => (path === '' ? name : `${path} ${name}`)
  return [
    {
      path,
      summary: program.summary() || program.description(),
      verbs: program.commands.map((verb) => ({ name: verb.name(), summary: verb.summary() || verb.description() })),
      options: program.options
        .map(({ short, long, description, required, optional, argChoices = [] }) => ({
          flags: [long, short].filter((flag) => flag !== undefined && flag !== null),
          ...{ help: description, takesValue: required || optional, choices: argChoices },
        }))
        .concat({ flags: ['--help', '-h'], help: 'show the help', takesValue: false, choices: [] }),
      values: program.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    },
    ...program.commands.flatMap((verb) => readGrammar(verb, pathOf(verb.name()))),
  ]
}

/** Contract: all flags that take a value, each once. */
export const flagsWithValue = (verbs: readonly Verb[]): readonly string[] => [
  ...new Set(verbs.flatMap(({ options }) => options.flatMap(({ flags, takesValue }) => (takesValue ? flags : [])))),
]

/** A text in single quotes; its own become `'\''`, which bash, zsh and fish all read. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Lines of a shell's `case` for the options with fixed values. `line`: of the patterns that match, and the values. */
export const choiceCases = (
  verbs: readonly Verb[],
  line: (patterns: string, choices: readonly string[]) => string,
): string =>
  verbs
    .flatMap(({ path, options }) =>
      options
        .filter(({ choices }) => choices.length > 0)
        .map(({ flags, choices }) => {
          const patterns = flags.map((flag) => quoted(`${path} ${flag}`)).join('|')
          return `    ${line(patterns, choices)}`
        }),
    )
    .join('\n')
