/** Prints a script with which a shell completes verbs, options and their values. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import { defineCommand } from './lib/command.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** Where each shell looks for scripts, and what to type. */
const PLACES: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: '~/.local/share/bash-completion/completions/tireless',
  zsh: '~/.zfunc/_tireless',
  fish: '~/.config/fish/completions/tireless.fish',
}

const HINTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: 'needs the package bash-completion; without it, add to ~/.bashrc: source <(tireless completion bash)',
  zsh: 'in ~/.zshrc: fpath+=(~/.zfunc); autoload -Uz compinit; compinit',
  fish: 'fish loads it by itself',
}

export const completion = defineCommand({
  name: 'completion',
  summary: 'print a script with which your shell completes verbs, options and values',
  example: 'completion bash',
  runsIn: 'no_home',
  needs: ['completionScript'],
  positional: ['shell'],
  input: z.object({ shell: z.enum(SHELLS).describe('bash, zsh or fish') }),
  output: z.object({
    shell: z.enum(SHELLS),
    file: z.string().describe('where to put the script'),
    script: z.string(),
  }),
  async run({ completionScript }, { shell }) {
    if (!completionScript) throw new TirelessError('usage', 'completion works only on the command line')
    const file = PLACES[shell]
    // zsh reads the first line of a script in its folders.
    const opening = [
      ...(shell === 'zsh' ? ['#compdef tireless'] : []),
      `# To install: tireless completion ${shell} > ${file}  (${HINTS[shell]})`,
    ]
    return { shell, file, script: `${opening.join('\n')}\n${await completionScript(shell)}` }
  },
})
