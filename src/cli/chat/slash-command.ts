/** Commands of the terminal chat: `/` and a verb of the command line, or one of the chat's own. */

import type { Command } from '../../commands/lib/command.ts'
import { findCommand, loadCommands } from '../../commands/lib/registry.ts'
import { splitWords } from '../../commands/lib/words.ts'
import { editDistance } from '../../domain/edit-distance.ts'
import { chatTexts } from './chat-texts.ts'

type SlashCommand =
  | { readonly kind: 'own'; readonly name: 'quit' | 'help' | 'continue' | 'cancel' }
  /** The arguments of a command line. */
  | { readonly kind: 'verb'; readonly args: readonly string[] }
  | { readonly kind: 'refused'; readonly text: string }

const OWN: Readonly<Record<string, 'quit' | 'help' | 'continue' | 'cancel'>> = {
  quit: 'quit',
  exit: 'quit',
  help: 'help',
  continue: 'continue',
  cancel: 'cancel',
}
/** Short forms of verbs that people use often in a conversation. */
const SHORT: Readonly<Record<string, readonly string[]>> = {
  allow: ['approvals', 'allow'],
  deny: ['approvals', 'deny'],
}
/** These need the terminal, or would run for ever. */
const NOT_HERE: ReadonlySet<string> = new Set(['chat', 'mcp serve', 'completion', 'logs'])

/** Contract: what a line that starts with `/` means. */
export async function readSlashCommand(line: string): Promise<SlashCommand> {
  const [name = '', ...rest] = splitWords(line.trim().slice(1))
  const own = OWN[name.toLowerCase()]
  if (own !== undefined) return { kind: 'own', name: own }
  const words = [...(SHORT[name] ?? [name]), ...rest]
  // A group alone lists what it has: `/approvals`.
  const candidates = [words, [name, 'list', ...rest]]
  for (const args of candidates) {
    const end = args.findIndex((arg) => arg.startsWith('-'))
    const command = await findCommand(end < 0 ? args : args.slice(0, end))
    if (!command) continue
    if (!canRunHere(command)) return { kind: 'refused', text: chatTexts().notHere(command.name) }
    return { kind: 'verb', args }
  }
  return { kind: 'refused', text: chatTexts().unknown(name, await nearestName(name)) }
}

const canRunHere = ({ name, runsIn }: Command): boolean =>
  (runsIn === 'any_process' || runsIn === 'no_home') && !NOT_HERE.has(name)

async function nearestName(typed: string): Promise<string> {
  const names = [...Object.keys(OWN), ...Object.keys(SHORT), ...(await loadCommands()).map(({ name }) => name)]
  const first = names.map((name) => ({ name, distance: editDistance(name, typed) }))
  return first.toSorted((a, b) => a.distance - b.distance)[0]?.name ?? 'help'
}

/** Contract: one line per command that can be used in the chat. */
export async function helpLines(): Promise<readonly string[]> {
  const { commands, own } = chatTexts()
  const verbs = (await loadCommands()).filter(canRunHere).map(({ name, summary }) => [`/${name}`, summary])
  return [commands, ...[...own, ...verbs].map(([name = '', about = '']) => `  ${name.padEnd(22)} ${about}`)]
}
