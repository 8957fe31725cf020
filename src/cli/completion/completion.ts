/** Completion scripts, made from the grammar of the command line. */

import { loadCommands } from '../../commands/lib/registry.ts'
import { buildProgram } from '../program.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { readGrammar, type Verb } from './grammar.ts'
import { zshScript } from './zsh.ts'

type Shell = 'bash' | 'zsh' | 'fish'

const SCRIPTS: Readonly<Record<Shell, (verbs: readonly Verb[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** Contract: the script without its opening comment. */
export async function completionScript(shell: Shell): Promise<string> {
  const program = buildProgram(await loadCommands(), {}, async () => {})
  return SCRIPTS[shell](readGrammar(program))
}
